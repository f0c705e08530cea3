//! Bounds memory and time by the size of the file, whatever its counts claim.
//!
//! glTF lets a few bytes of JSON ask for a billion zeros, or let a thousand primitives share one accessor. Everything
//! that allocates in proportion to such a count asks here first.

use std::cell::Cell;

use crate::AssetError;

/// What may still be allocated and done.
pub(super) struct Budget {
    bytes: Cell<usize>,
    work: Cell<u64>,
}

/// Granted to any file, bytes.
const BASE: usize = 32 << 20;
/// Granted for each byte of the file.
const PER_BYTE: usize = 3;
/// Steps granted to any file.
const WORK_BASE: u64 = 32 << 20;
/// Steps granted for each byte of the file: decoding and checking take up to ten.
const WORK_PER_BYTE: u64 = 16;

impl Budget {
    /// The allowance of a file of `size` bytes.
    pub(super) fn new(size: usize) -> Self {
        let budget = Self {
            bytes: Cell::new(BASE),
            work: Cell::new(WORK_BASE),
        };
        budget.grow(size);
        budget
    }

    /// Adds the allowance of a further file of `size` bytes.
    pub(super) fn grow(&self, size: usize) {
        let more = size.saturating_mul(PER_BYTE);
        self.bytes.set(self.bytes.get().saturating_add(more));
        let work = (size as u64).saturating_mul(WORK_PER_BYTE);
        self.work.set(self.work.get().saturating_add(work));
    }

    /// Asks for `count` elements of `size` bytes each, on behalf of what is at `location`.
    pub(super) fn take(&self, count: usize, size: usize, location: &str) -> Result<(), AssetError> {
        let bytes = count.saturating_mul(size);
        let left = self.bytes.get().checked_sub(bytes);
        let work = self.work.get().checked_sub(bytes as u64);
        match left.zip(work) {
            Some((left, work)) => {
                self.bytes.set(left);
                self.work.set(work);
                Ok(())
            }
            None => Err(AssetError {
                code: "TOO_LARGE",
                location: location.to_owned(),
                message: format!("{count} elements are out of proportion to the size of the file"),
            }),
        }
    }

    /// Gives memory back; the work stays done.
    pub(super) fn give_back(&self, count: usize, size: usize) {
        let bytes = count.saturating_mul(size);
        self.bytes.set(self.bytes.get().saturating_add(bytes));
    }

    /// True if `amount` more bytes may be looked at without keeping them.
    pub(super) fn may_scan(&self, amount: usize) -> bool {
        let left = self.work.get().checked_sub(amount as u64);
        left.inspect(|left| self.work.set(*left)).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_beyond_the_file_is_refused_at_its_place() {
        let budget = Budget::new(1000);
        let refused = budget.take(1_000_000_000, 12, "/accessors/4").unwrap_err();
        assert_eq!(refused.location, "/accessors/4");
        budget.take(1_000_000, 12, "/accessors/4").unwrap();
    }

    #[test]
    fn counts_whose_product_overflows_are_refused() {
        assert!(Budget::new(0).take(usize::MAX, 64, "").is_err());
    }
}
