#!/bin/sh
# Leaves a process in its own session, reparented twice, without our variables and ignoring graceful signals; it
# writes its pid to $1. Then exits, or with a second argument becomes that command.
file=$1 && shift
# shellcheck disable=SC2016
runaway='trap "" TERM HUP; echo $$ >"$1.new"; mv "$1.new" "$1"; while :; do sleep 60; done'
# shellcheck disable=SC2016
(setsid env -i PATH="$PATH" sh -c 'sh -c "$1" sh "$2" & exit 0' sh "$runaway" "$file" </dev/null >/dev/null 2>&1 &)
[ $# -eq 0 ] || exec "$@"
