#!/bin/sh
# Starts a child in its group and one that it waits for, and prints a line.
sleep 300 &
echo "ready $!"
wait
