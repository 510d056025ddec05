#!/bin/sh
# Reads one line and exits with that status, or dies of that signal.
echo ready
read -r how
case $how in
# tmux drops unread output when a program exits.
[0-9]*) echo "last words"; sleep 0.2; exit "$how" ;;
*) kill -s "$how" "$$" ;;
esac
