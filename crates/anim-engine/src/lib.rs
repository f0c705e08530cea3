//! One frame of character animation: keyframes, IK, simulation, skinning.
