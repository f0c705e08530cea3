//! A pack cannot make its reader take more memory than its size warrants.

#![allow(unsafe_code, reason = "counting allocations takes an allocator")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use anim_asset::pack;

struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(live, Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bytes that decoding `payload` behind a fitting header takes at most.
fn peak(payload: &[u8]) -> usize {
    let hash = payload
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
    let header = [1_u64 | 1 << 32, payload.len() as u64, hash];
    let mut sealed = pack::MAGIC.to_vec();
    sealed.extend(header.iter().flat_map(|field| field.to_le_bytes()));
    sealed.extend(payload);
    let before = LIVE.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    assert!(pack::decode(&sealed).is_err());
    PEAK.load(Ordering::Relaxed) - before
}

/// In one test, because tests of a binary run side by side and would count each other's memory.
#[test]
fn counts_that_lie_take_no_memory() {
    let bound = |payload: &[u8]| (64 << 20) + 8 * payload.len();
    for claim in [1_u64 << 20, 1 << 26, 1 << 32, 1 << 40, u64::MAX] {
        // So many nodes; one node whose name is that long; one scene with so many roots.
        let nodes = claim.to_le_bytes().to_vec();
        let name = [&1_u64.to_le_bytes()[..], &[1], &claim.to_le_bytes()].concat();
        let scenes = [0, 1, claim].map(u64::to_le_bytes).concat();
        for lie in [nodes, name, scenes] {
            for length in [0, 100_000] {
                let payload = [&lie[..], &vec![0; length]].concat();
                let peak = peak(&payload);
                assert!(
                    peak <= bound(&payload),
                    "{peak} bytes for a claim of {claim}"
                );
            }
        }
    }
}
