#!/bin/sh
# keeper.sh DIR RECORD LAUNCH -- COMMAND...   runs an agent between DIR/in and DIR/out; its contract: docs/keeper.md.
# Names start with hf_ because a shell exports the variables it changes; the agent gets its own PATH and umask back.
set -u
hf_dir=$1 hf_record=$2 hf_launch=$3 hf_path=$PATH hf_mask=$(umask)
hf_tick=${HOLDFAST_KEEPER_TICK:-30}    # seconds between the watcher's checks
hf_most=${HOLDFAST_KEEPER_TICKS:-5760} # 48 h in ticks: clock changes and suspend do not count
shift 4 && umask 077 && unset HOLDFAST_KEEPER_TICK HOLDFAST_KEEPER_TICKS
PATH=/usr/bin:/bin:$PATH                      # the agent's PATH may start with a folder of the worktree
trap : TERM HUP INT QUIT                      # survives a graceful stop to record the status; '' would leak
mkfifo "$hf_dir/p" "$hf_dir/bell" || exit 125 # the directory was used before
printf '   \n' >"$hf_dir/exit.tmp"            # reserves its space now
exec 3<>"$hf_dir/bell"                        # from now on the bell works

ours() { # the pid may have been reused
  [ ! -r /proc/self/environ ] || grep -qzxF "HOLDFAST_LAUNCH=$hf_launch" "/proc/$1/environ" 2>/dev/null
}
feed() { # the kernel keeps our offset in DIR/in with descriptor 4
  exec >"$hf_dir/p" 4<"$hf_dir/in" # blocks until the agent opens it: earlier writes would be lost
  while cat <&4 3>&- 4<&-; do
    read -r ring <&3 || exit 1
    [ "$ring" = q ] || continue
    # The watcher holds the agent's stdin open too, so that a feeder's death is not an end of file.
    read -r _ _ watcher <"$hf_dir/pids" && ours "$watcher" && kill "$watcher"
    exit 0
  done
}
signal_tree() { # signals everything with the launch's marker, in any session, except keeper, feeder and watcher
  rest='' me=${me:-$(exec sh -c 'echo "$PPID"')}
  # exec and unset keep this subshell and grep from matching themselves.
  for pid in $(unset HOLDFAST_LAUNCH && exec grep -lzxF "HOLDFAST_LAUNCH=$hf_launch" /proc/[0-9]*/environ); do
    pid=${pid#/proc/} && pid=${pid%/environ}
    case " $$ $hf_feeder $me " in *" $pid "*) ;; *) kill -s "$1" "$pid" && rest=$pid ;; esac
  done
}
bound() { # caps DIR/err, which the agent appends to; reserves space ahead of the end of DIR/out
  # shellcheck disable=SC2046
  set -- $(stat -c %s "$hf_dir/out" "$hf_dir/err" || stat -f %z "$hf_dir/out" "$hf_dir/err")
  [ "${2:-0}" -le 1048576 ] || { tail -c 262144 "$hf_dir/err" >"$hf_dir/err.old"; : >"$hf_dir/err"; }
  [ $# -eq 2 ] && [ "$1$held" != "$last" ] || return 0
  last=$1
  case $(LC_ALL=C fallocate -n -o "$1" -l 262144 "$hf_dir/out" 2>&1) in
    *'No space left'* | *quota*) held=yes && signal_tree STOP ;;
    *) [ -z "$held" ] || { held='' && signal_tree CONT; } ;; # also without fallocate or file system support
  esac
}
watch() { # until the tree is abandoned; then stops it, gracefully first; DIR/out stays
  case $hf_record in "${hf_dir%/*}"/*) cd "$hf_dir" && hf_record=../${hf_record##*/} hf_dir=. ;; esac
  [ ! -e "$hf_dir/exit" ] || exit 0 # the keeper's trap swallows a signal between fork and here
  exec 3>&- 9>"$hf_dir/p" 2>/dev/null # before the trap: bash hangs in an open that a trap interrupts
  # From the feeder or a graceful stop: close the agent's stdin. From the keeper: exit. $! is or was our sleep.
  trap 'exec 9>&-; kill -s KILL "$!"; [ ! -e "$hf_dir/exit" ] || exit 0' TERM HUP INT QUIT
  me='' held='' last='' beat='' still=0 missing=0 how=0 round=0
  while [ "$missing" -lt 2 ] && [ "$still" -lt "$hf_most" ]; do
    sleep "$hf_tick" 9>&- &
    wait "$!"
    text='' now='' still=$((still + 1))
    kill -0 "$$" || { signal_tree 0; [ "$rest" ]; } || { read -r pid <"$hf_dir/agent.pid" && kill -0 "$pid"; } || break
    bound
    [ ! -r "$hf_record" ] || while IFS= read -r line || [ -n "$line" ]; do text=$text$line; done <"$hf_record"
    case $text in
      *'"launch":"'"$hf_launch"'"'* | *'"launch": "'"$hf_launch"'"'*) missing=0 ;;
      *'"launch":'*) break ;; # superseded
      *) case $(LC_ALL=C ls -d "$hf_record" 2>&1) in *'No such'*) missing=$((missing + 1)) ;; *) missing=0 ;; esac ;;
    esac # unreadable or damaged is not missing
    read -r now <"$hf_dir/beat"
    [ "$now" = "$beat" ] || { beat=$now && still=0; }
    case $text in *'"restarting":true'* | *'"restarting": true'*) still=0 ;; esac
  done
  trap : TERM HUP INT QUIT && exec 9>&-
  # We are in this group, so its id cannot be reused. Stopped processes receive no SIGTERM.
  for name in TERM CONT; do kill -s "$name" -- "-$$"; signal_tree "$name"; done
  while signal_tree "$how"; [ -n "$rest" ] || kill -0 "$$"; do
    round=$((round + 1))
    [ "$round" -lt 25 ] || how=KILL # 5 s
    [ "$round" -lt 35 ] || kill -s KILL -- "-$$"
    sleep 0.2 || sleep 1
  done
}
feed & hf_feeder=$!; watch & hf_watcher=$!
exec 3>&-
echo "$$ $hf_feeder $hf_watcher" >"$hf_dir/pids"
# In the foreground: with & it would ignore SIGINT, and `wait` returns early on a trapped signal.
(PATH=$hf_path && exec /bin/sh -c 'echo "$$" >"$1/agent.pid"; umask "$2"; shift 2; exec "$@"' holdfast "$hf_dir" \
  "$hf_mask" "$@" <"$hf_dir/p" >>"$hf_dir/out" 2>>"$hf_dir/err")
hf_status=$? && trap '' TERM HUP INT QUIT # a late signal would kill mv
printf '%3d\n' "$hf_status" 1<>"$hf_dir/exit.tmp" && mv "$hf_dir/exit.tmp" "$hf_dir/exit"
ours "$hf_feeder" && kill -s KILL "$hf_feeder"
ours "$hf_watcher" && kill "$hf_watcher"
exit "$hf_status"
