#!/bin/sh
# What a resume of an unknown conversation looks like: a start-up that takes a moment, then a refusal.
[ "$1" = "--resume" ] || exec sleep 300
# Whoever reads the refusal first may end it first.
trap 'exit 1' TERM HUP
sleep 0.2
echo "No conversation found with session ID: $2"
# tmux drops what it has not read when a program is gone.
steps=0
while [ "$steps" -lt 30000 ]; do steps=$((steps + 1)); done
exit 1
