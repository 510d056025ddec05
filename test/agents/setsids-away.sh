#!/bin/sh
# Leaves a child in a process session of its own, reparented, deaf to polite signals; ends politely itself.
setsid sh -c 'trap "" TERM HUP; (while :; do sleep 1; done) & exit 0'
echo ready
exec sleep 300
