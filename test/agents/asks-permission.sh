#!/bin/sh
# Shows a question in its title and on its screen and records typed text.
printf '\033]2;Action Required\007'
echo "Allow this command? (y/n)"
stty raw -echo
exec cat >"$1"
