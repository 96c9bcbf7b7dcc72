//! `aqmlab._core`.
