#!/bin/sh
# Builds the laboratory in a tab into python/aqmlab/lab/page: the simulator for WebAssembly by rustup's
# target or else by Debian's packages, the page, and its libraries as their packages have them. Where a tool is
# missing it says in one line what and how to get it, and fails; with --missing it fails where nothing is.
set -eu
cd "$(dirname "$0")/.."
page=python/aqmlab/lab/page
target=wasm32-unknown-unknown
missing() { echo "web: not built, $1" >&2; test "${asked:-}" && exit 0 || exit 3; }
asked=${1:-}

command -v npm >/dev/null || missing 'npm is missing, which fetches libraries of the page (Debian: apt install npm)'
cargo=${CARGO:-cargo}
export CARGO_PROFILE_RELEASE_DEBUG=0 CARGO_PROFILE_RELEASE_PANIC=abort
unset RUSTFLAGS CARGO_PROFILE_RELEASE_INCREMENTAL CARGO_INCREMENTAL
# What the shell sets for other builds does not change the page. Only CI, which publishes none, wants less optimisation.
test "${AQMLAB_PAGE:-}" = quick || unset CARGO_PROFILE_RELEASE_LTO CARGO_PROFILE_RELEASE_CODEGEN_UNITS CARGO_PROFILE_RELEASE_OPT_LEVEL
build() { test "$asked" && exit 1; "$@" --quiet --release --locked --target $target -p aqmlab-web --crate-type cdylib -- -C link-arg=--strip-all; }

lld=$(ls /usr/bin/wasm-ld-[0-9]* 2>/dev/null | sort -V | tail -1)
if ls "$(rustc --print sysroot)/lib/rustlib/$target/lib"/libstd-*.rlib >/dev/null 2>&1 || rustup target add $target >/dev/null 2>&1; then
    build "$cargo" rustc
elif test -x /usr/bin/rustc && test -x /usr/bin/cargo && test -d /usr/lib/rustlib/src/rust/library && test -n "$lld"; then
    # Debian ships the standard library as source. Another linker variable would compile it again.
    export PATH=/usr/bin:$PATH RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=$(basename "$lld")
    build /usr/bin/cargo rustc -Z build-std=std,panic_abort
else
    missing "the target is missing: rustup target add $target (Debian: apt install rustc-web cargo-web rust-web-src lld-19)"
fi

cd web
if ! test -d node_modules/smol-toml || test package-lock.json -nt node_modules; then
    npm ci --silent --no-audit --no-fund >/dev/null 2>&1 || missing 'npm could not fetch the packages of web/package-lock.json'
fi
cd ..
rm -rf $page.new && mkdir -p $page.new
cp web/*.js web/*.css web/*.html web/presets.json web/calibrations.json web/lab.json $page.new/
cp target/$target/release/aqmlab_web.wasm $page.new/aqmlab.wasm
cp web/node_modules/uplot/dist/uPlot.iife.min.js $page.new/uplot.js
cp web/node_modules/uplot/dist/uPlot.min.css $page.new/uplot.css
cp web/node_modules/uplot/LICENSE $page.new/uplot-licence.txt
# Of smol-toml's two forms the one in a single file, as a module; its licence stands in it. Browsers find it by its path.
{ echo 'const exports = {}'; cat web/node_modules/smol-toml/dist/index.cjs; echo 'export { parse }'; } > $page.new/smol-toml.js
sed -i "s#'smol-toml'#'./smol-toml.js'#" $page.new/toml.js
build=$(node -e 'import("./web/engine.js").then(({ Engine }) => console.log(new Engine(new WebAssembly.Module(require("fs").readFileSync(process.argv[1]))).version().build))' $page.new/aqmlab.wasm)
page_hash=$(cat $page.new/* | sha256sum | cut -c1-12)
sed -i "s/aqmlab-BUILD/aqmlab-$build-$page_hash/" $page.new/offline.js
rm -rf $page && mv $page.new $page
