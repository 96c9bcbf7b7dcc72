//! The tests of this crate from outside as one program: a new file needs its line here.

mod common;
mod datagrams;
mod descriptions;
mod mah_tables;
mod media;
mod models;
mod pages;
mod persistent;
mod registry;
mod replay;
mod web_user;
mod webtraf;
