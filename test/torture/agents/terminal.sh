#!/bin/sh
# A cheap terminal agent: records its start, leaves work in its worktree once, and records each line it receives.
note() {
  printf '{"at":%s,"session":"%s","launch":"%s","pid":%s,"event":"%s","value":"%s"}\n' \
    "$(date +%s%3N)" "$HOLDFAST_SESSION" "$HOLDFAST_LAUNCH" "$$" "$1" "$2" >>"$TORTURE_LEDGER"
}
note started ""
if [ ! -e untracked.bin ]; then
  mkdir -p made
  head -c 4096 /dev/urandom >made/inner.bin
  cp made/inner.bin untracked.bin
  note work "$(sha256sum <untracked.bin | cut -d' ' -f1)"
fi
trap 'note signal TERM; exit 0' TERM HUP
printf 'ready> '
while :; do
  if IFS= read -r line; then
    note prompt "$line"
    printf 'ready> '
  else
    sleep 1
  fi
done
