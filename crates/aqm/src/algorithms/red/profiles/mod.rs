//! The implementations of RED, one file each.

pub(super) mod altq;
pub(super) mod fj93;
pub(super) mod linux;
pub(super) mod ns2;
pub(super) mod ns2_fixed;
pub(super) mod ns3;
