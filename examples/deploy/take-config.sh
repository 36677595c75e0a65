#!/bin/sh
# Copies the config in the folder FROM to TO if it has no problem, else fails and leaves TO as it was.
# With --or-last it does not fail while TO has an older config: that one is used on.
#
#   take-config.sh FROM TO [--or-last]
set -eu
from=$1 to=$2 otherwise=${3:-}
programs=$(dirname "$0")/../../apps/cli
# A checkout has the first one, the package the second.
program=$programs/signalbox.mjs
[ -e "$program" ] || program=$programs/bin.mjs

rm -rf "$to.new" "$to.old"
cp -RL "$from" "$to.new"
# The copy is checked, as it is what will run.
if "${NODE:-/usr/bin/node}" "$program" check -f "$to.new"; then
  [ ! -e "$to" ] || mv "$to" "$to.old"
  mv "$to.new" "$to"
  rm -rf "$to.old"
  exit 0
fi
rm -rf "$to.new"
[ "$otherwise" = --or-last ] && [ -e "$to" ] || exit 1
echo "The config in $from has the problems above: the last good one, in $to, is used." >&2
