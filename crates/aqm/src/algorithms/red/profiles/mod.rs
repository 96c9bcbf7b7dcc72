//! The implementations of RED, one file each.

pub(crate) mod altq;
pub(crate) mod fj93;
pub(crate) mod linux;
pub(crate) mod ns2;
pub(crate) mod ns2_fixed;
pub(crate) mod ns3;
