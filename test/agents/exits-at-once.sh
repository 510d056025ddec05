#!/bin/sh
# Prints why it cannot work and exits, not immediately, because tmux drops unread output when a program exits.
echo "cannot start: no key is set"
steps=0
while [ "$steps" -lt 30000 ]; do steps=$((steps + 1)); done
exit "${1:-3}"
