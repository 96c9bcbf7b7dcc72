//! Reads a capture without Python: the report to standard output, lines counted only. With
//! `cargo run --release -p aqmlab-capture --example read -- FILE` it is what speed is measured by.

use std::fs::File;
use std::io::Read;

use aqmlab_capture::{Learner, Limits};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("give the path of a capture")?;
    let mut file = File::open(path)?;
    let mut learner = Learner::new(Limits::default(), Vec::new());
    let mut chunk = vec![0; 1 << 20];
    let mut bytes = 0;
    loop {
        let n = file.read(&mut chunk)?;
        if n == 0 {
            break;
        }
        learner.feed(&chunk[..n])?;
        bytes += learner.take().0.len();
    }
    let report = learner.finish()?;
    bytes += learner.take().0.len();
    println!("{bytes} bytes of lines");
    println!("{:#}", report["seen"]);
    println!("{:#}", report["warnings"]);
    Ok(())
}
