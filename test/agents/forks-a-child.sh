#!/bin/sh
# A child in its group, one that it waits for, and a line for the record.
sleep 300 &
echo "ready $!"
wait
