//! What CAKE promises.
