//! include/aqmlab_plugin.h is what src/c/types.rs is.

use std::fs;
use std::path::Path;

/// Write the header anew with `AQMLAB_BLESS=1 cargo test -p aqmlab-plugin --test all header::`.
#[test]
fn the_header_is_not_stale() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(here.join("cbindgen.toml")).expect("a configuration");
    let written = cbindgen::Builder::new()
        .with_config(config)
        .with_src(here.join("src/c/types.rs"))
        .generate()
        .expect("bindings");
    let mut text = Vec::new();
    written.write(&mut text);
    let text = String::from_utf8(text).expect("text");
    let path = here.join("include/aqmlab_plugin.h");
    if std::env::var_os("AQMLAB_BLESS").is_some() {
        fs::write(&path, &text).expect("the header can be written");
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == text,
        "include/aqmlab_plugin.h is stale: say AQMLAB_BLESS=1 and run this test"
    );
}
