#!/usr/bin/env bash
# Installs the clients that tests/clients/ runs, in the versions of packages/, into DIR: DIR/node of npm, DIR/python of PyPI.
# usage: install.sh DIR      About a minute and 2 GB. Does nothing when DIR has just these versions; npm and python3 must be there.
set -euo pipefail
packages=$(cd "$(dirname "$0")/packages" && pwd)
mkdir -p "$1" && cd "$1"
wanted=$(cat "$packages"/* | cksum)
[ "$(cat complete 2>/dev/null)" = "$wanted" ] && exit 0
rm -rf complete node python state && mkdir node
cp "$packages/package.json" "$packages/package-lock.json" node/
# Some packages run what they install once, and it writes where it keeps its state.
state=$PWD/state
(cd node && XDG_CONFIG_HOME=$state XDG_DATA_HOME=$state XDG_STATE_HOME=$state exec npm install --no-audit --no-fund --loglevel=error) &
npm=$!
isGood=true
{ python3 -m venv python && python/bin/pip install -q --no-compile --disable-pip-version-check -r "$packages/requirements.txt"; } || isGood=false
wait "$npm" || isGood=false
rm -rf state
$isGood || exit 1
for program in claude codex opencode; do [ -x "node/node_modules/.bin/$program" ] || exit 1; done
echo "$wanted" > complete
