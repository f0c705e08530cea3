//! What can be wrong with a set of drivers.

use thiserror::Error;

/// Why drivers cannot be bound to a skeleton; every variant names the driver.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum DriverError {
    /// Two drivers of one name, by which errors and outputs are told apart.
    #[error("driver '{driver}': the name is taken")]
    SameName {
        /// The name.
        driver: String,
    },
    /// A joint that the skeleton does not have.
    #[error("driver '{driver}': joint {joint} does not exist")]
    NoJoint {
        /// The driver's name.
        driver: String,
        /// The joint's name in quotes, or its index.
        joint: String,
    },
    /// A driver with an empty list of sources or helpers.
    #[error("driver '{driver}': {what} must not be empty")]
    Empty {
        /// The driver's name.
        driver: String,
        /// The list.
        what: &'static str,
    },
    /// A direction that is zero or not finite, or an up axis along the axis it should be at an angle to.
    #[error("driver '{driver}': {what} is not a usable direction")]
    Axis {
        /// The driver's name.
        driver: String,
        /// The field.
        what: &'static str,
    },
    /// A number outside its range, or not finite.
    #[error("driver '{driver}': {what} is out of range")]
    OutOfRange {
        /// The driver's name.
        driver: String,
        /// The field.
        what: &'static str,
    },
    /// Drivers each of which needs what the next one writes, and the last what the first does; or one that moves what it
    /// follows.
    #[error("drivers wait for each other: {}", drivers.join(" for "))]
    Cycle {
        /// Their names, the first one again at the end.
        drivers: Vec<String>,
    },
    /// A chain with a joint that does not hang on the one before.
    #[error("driver '{driver}': each joint must hang on the one before")]
    NotBelow {
        /// The driver's name.
        driver: String,
    },
}
