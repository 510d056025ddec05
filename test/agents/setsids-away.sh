#!/bin/sh
# Leaves a child in its own process session, reparented, ignoring graceful signals; exits gracefully itself.
setsid sh -c 'trap "" TERM HUP; (while :; do sleep 1; done) & exit 0'
echo ready
exec sleep 300
