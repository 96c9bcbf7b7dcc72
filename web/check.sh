#!/bin/sh
# Holds the page's sources to web/biome.json (format and lints); --write formats them. Where npm or its
# registry is not to be had, one line says so, and nothing is checked.
set -eu
cd "$(dirname "$0")"
skipped() { echo "web: not checked, $1" >&2; exit 0; }

command -v npm >/dev/null || skipped 'npm is missing (Debian: apt install npm)'
if ! test -x node_modules/.bin/biome || test package-lock.json -nt node_modules; then
    npm ci --silent --no-audit --no-fund >/dev/null 2>&1 || skipped 'npm could not fetch the packages of web/package-lock.json'
fi
# A binary for this machine comes as a package of its own.
node_modules/.bin/biome --version >/dev/null 2>&1 || skipped 'Biome does not run on this machine'
said=$(node_modules/.bin/biome check --error-on-warnings --colors=off "$@" . 2>&1) || { echo "$said" >&2; exit 1; }
