//! Events in, tables and summaries out.
