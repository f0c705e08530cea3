//! Inverse kinematics: analytic two-bone and look-at.
