#!/bin/sh
# Says why it cannot work and ends.
echo "cannot start: no key is set"
exit "${1:-3}"
