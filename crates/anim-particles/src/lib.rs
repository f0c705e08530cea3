//! Deterministic particle effects.
