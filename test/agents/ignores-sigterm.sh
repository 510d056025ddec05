#!/bin/sh
# Ignores every graceful stop signal, and so do its children.
trap '' TERM HUP INT QUIT
echo ready
while :; do sleep 1; done
