#!/bin/sh
# Imitates resuming an unknown conversation: a slow start, then a refusal.
[ "$1" = "--resume" ] || exec sleep 300
# The first reader of the refusal may stop it.
trap 'exit 1' TERM HUP
sleep 0.2
echo "No conversation found with session ID: $2"
# tmux drops unread output when a program exits.
steps=0
while [ "$steps" -lt 30000 ]; do steps=$((steps + 1)); done
exit 1
