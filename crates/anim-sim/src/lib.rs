//! Deterministic XPBD cloth.
