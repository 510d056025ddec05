#!/bin/sh
# Runs `asks-daemon.ts $2 stay` with the Node of $1 in its own process session, reparented, without our variables.
node=$1 directory=$2
program=${0%/*}/asks-daemon.ts
# shellcheck disable=SC2016
(setsid env -i PATH="$PATH" sh -c '"$1" "$2" "$3" stay & exit 0' sh "$node" "$program" "$directory" </dev/null >/dev/null 2>&1 &)
