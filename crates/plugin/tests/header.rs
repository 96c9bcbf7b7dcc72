//! include/aqmlab_plugin.h is what src/c/types.rs is.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The configuration, the source and the header of both interfaces.
const HEADERS: [[&str; 3]; 2] = [
    ["cbindgen.toml", "src/c/types.rs", "include/aqmlab_plugin.h"],
    ["cbindgen-control.toml", "src/c/control_types.rs", "include/aqmlab_control.h"],
];

/// Write the headers anew with `AQMLAB_BLESS=1 cargo test -p aqmlab-plugin --test all header::`.
#[test]
fn the_headers_are_not_stale() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    for [config, source, header] in HEADERS {
        let config = cbindgen::Config::from_file(here.join(config)).expect("a configuration");
        let written = cbindgen::Builder::new()
            .with_config(config)
            .with_src(here.join(source))
            .generate()
            .expect("bindings");
        let mut text = Vec::new();
        written.write(&mut text);
        let text = String::from_utf8(text).expect("text");
        let path = here.join(header);
        if std::env::var_os("AQMLAB_BLESS").is_some() {
            fs::write(&path, &text).expect("the header can be written");
        }
        let found = fs::read_to_string(&path).unwrap_or_default();
        assert!(found == text, "{header} is stale: set AQMLAB_BLESS=1 and run this test");
    }
}

/// `#define NAME VALUE` of a header.
fn constants(header: &str) -> BTreeMap<&str, &str> {
    let words = header.lines().filter_map(|line| line.strip_prefix("#define "));
    words.filter_map(|line| line.split_once(' ')).collect()
}

/// Types and names of a structure's members, without comments.
fn members<'a>(header: &'a str, structure: &str) -> Vec<(&'a str, &'a str)> {
    let (_, body) =
        header.split_once(&format!("typedef struct {structure} {{")).expect("it is there");
    let (body, _) = body.split_once('}').expect("it ends");
    let lines = body.lines().filter_map(|line| line.trim().strip_suffix(';'));
    lines.filter_map(|line| line.rsplit_once(' ')).collect()
}

/// A program may use both headers: what both name is the same, and a packet has the same shape.
#[test]
fn both_headers_say_the_same() {
    let own = include_str!("../include/aqmlab_plugin.h");
    let other = include_str!("../../embed/include/aqmlab.h");
    let (own_names, other_names) = (constants(own), constants(other));
    let both: Vec<_> = own_names.keys().filter(|name| other_names.contains_key(*name)).collect();
    for name in &both {
        assert_eq!(own_names[*name], other_names[*name], "{name}");
    }
    assert_eq!(both.len(), 14, "{both:?}"); // 4 of ECN, 3 of acknowledgements, 3 + 4 of events
    let mut own_packet = members(own, "aqmlab_plugin_packet");
    for member in &mut own_packet {
        if member.1 == "number" {
            member.1 = "id"; // here the queue's name for it, there the caller's
        }
    }
    assert_eq!(own_packet, members(other, "aqmlab_packet"));
}
