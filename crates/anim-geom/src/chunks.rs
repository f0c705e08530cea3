//! The one way this workspace runs a loop on many threads: fixed chunks, disjoint writes, sums in chunk order.
//!
//! Chunks do not depend on the number of threads, so neither does any result, to the last bit: a plain parallel sum of
//! floats gives a different answer on almost every run. Threads are the caller's to give: work is shared out only inside
//! a rayon pool (`pool.install(|| …)`), and outside one, as inputs of one chunk, it stays on the calling thread and
//! allocates nothing.
//!
//! ```
//! use anim_geom::chunks;
//!
//! let mut squares = vec![0.0f32; 10_000];
//! chunks::for_each_mut(&mut squares, |first, chunk| {
//!     for (i, value) in (first..).zip(chunk) {
//!         *value = (i * i) as f32;
//!     }
//! });
//! assert_eq!(squares[99], 9801.0);
//! ```

use rayon::prelude::*;

/// Items in a chunk: enough work to pay for handing it to a thread, few enough to balance four threads over 10 k.
pub const CHUNK: usize = 1024;

/// Chunks whose partial results are held at once.
const BATCH: usize = 64;

/// True inside a rayon pool of several threads: only there is work shared out.
pub fn in_pool() -> bool {
    rayon::current_thread_index().is_some() && rayon::current_num_threads() > 1
}

/// Calls `work(first, chunk)` for each chunk of `items`, in parallel; `first` is the index of the chunk's first item.
pub fn for_each_mut<T: Send>(items: &mut [T], work: impl Fn(usize, &mut [T]) + Sync) {
    if items.len() <= CHUNK || !in_pool() {
        let chunks = items.chunks_mut(CHUNK).enumerate();
        return chunks.for_each(|(index, chunk)| work(index * CHUNK, chunk));
    }
    let chunks = items.par_chunks_mut(CHUNK).enumerate();
    chunks.for_each(|(index, chunk)| work(index * CHUNK, chunk));
}

/// Calls `work(index, item)` for each of a few items that are much work each, in parallel.
pub fn for_each_large_mut<T: Send>(items: &mut [T], work: impl Fn(usize, &mut T) + Sync) {
    if in_pool() {
        let items = items.par_iter_mut().enumerate();
        items.for_each(|(index, item)| work(index, item));
    } else {
        let items = items.iter_mut().enumerate();
        items.for_each(|(index, item)| work(index, item));
    }
}

/// The results of two pieces of work that do not wait for each other, done at once.
pub fn join<A: Send, B: Send>(
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    if in_pool() {
        rayon::join(a, b)
    } else {
        (a(), b())
    }
}

/// Calls `work(first, chunk_a, chunk_b)` for the matching chunks of two arrays, in parallel.
///
/// # Panics
///
/// If the arrays differ in length.
pub fn for_each_pair_mut<A: Send, B: Send>(
    a: &mut [A],
    b: &mut [B],
    work: impl Fn(usize, &mut [A], &mut [B]) + Sync,
) {
    assert_eq!(a.len(), b.len(), "two arrays of the same items");
    if a.len() <= CHUNK || !in_pool() {
        let chunks = a.chunks_mut(CHUNK).zip(b.chunks_mut(CHUNK)).enumerate();
        return chunks.for_each(|(index, (a, b))| work(index * CHUNK, a, b));
    }
    let chunks = a.par_chunks_mut(CHUNK).zip(b.par_chunks_mut(CHUNK));
    chunks
        .enumerate()
        .for_each(|(index, (a, b))| work(index * CHUNK, a, b));
}

/// Reduces each chunk of `items` with `chunk(first, items)` in parallel, then joins the results in chunk order.
///
/// `identity` is the answer for no items.
pub fn ordered_reduce<T: Sync, A: Copy + Send>(
    items: &[T],
    identity: A,
    chunk: impl Fn(usize, &[T]) -> A + Sync,
    join: impl Fn(A, A) -> A,
) -> A {
    let mut total = identity;
    for (batch, items) in items.chunks(CHUNK * BATCH).enumerate() {
        let first = batch * CHUNK * BATCH;
        let mut partials = [identity; BATCH];
        let used = items.len().div_ceil(CHUNK);
        if used == 1 || !in_pool() {
            for (index, (partial, items)) in
                partials.iter_mut().zip(items.chunks(CHUNK)).enumerate()
            {
                *partial = chunk(first + index * CHUNK, items);
            }
        } else {
            let work = partials.par_iter_mut().zip(items.par_chunks(CHUNK));
            work.enumerate().for_each(|(index, (partial, items))| {
                *partial = chunk(first + index * CHUNK, items);
            });
        }
        for partial in &partials[..used] {
            total = join(total, *partial);
        }
    }
    total
}

/// The sum of `value` over `items`, the same to the bit on any number of threads.
pub fn ordered_sum<T: Sync>(items: &[T], value: impl Fn(&T) -> f32 + Sync) -> f32 {
    let chunk = |_, items: &[T]| items.iter().fold(0.0, |sum, item| sum + value(item));
    ordered_reduce(items, 0.0, chunk, |a, b| a + b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on_threads<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(work)
    }

    #[test]
    fn sums_are_bit_identical_for_any_thread_count() {
        let values: Vec<f32> = (0..200_000).map(|i| 1.0 / (1.0 + i as f32)).collect();
        let sum = |threads| on_threads(threads, || ordered_sum(&values, |v| *v).to_bits());
        let expected = sum(1);
        for threads in [2, 3, 4, 4, 4] {
            assert_eq!(sum(threads), expected);
        }
        // The harmonic number H(n) = ln n + γ + 1/2n.
        let closed_form = 200_000f32.ln() + 0.577_215_7;
        assert!((f32::from_bits(expected) - closed_form).abs() < 1e-4);
    }

    #[test]
    fn reductions_join_in_order_and_answer_for_nothing() {
        let items: Vec<usize> = (0..CHUNK * BATCH + 3 * CHUNK + 1).collect();
        let last = ordered_reduce(
            &items,
            None,
            |first, chunk| Some((first, chunk[0])),
            |_, b| b,
        );
        assert_eq!(last, Some((items.len() - 1, items.len() - 1)));
        assert_eq!(ordered_sum(&[] as &[f32], |v| *v), 0.0);
    }

    #[test]
    fn every_item_is_visited_once_at_its_own_index() {
        for count in [0, 1, CHUNK, CHUNK + 1, 5 * CHUNK - 1] {
            let (mut a, mut b) = (vec![0; count], vec![0; count]);
            for_each_mut(&mut a, |first, chunk| {
                for (i, item) in (first..).zip(chunk) {
                    *item += i;
                }
            });
            for_each_pair_mut(&mut a, &mut b, |first, a, b| {
                for ((i, a), b) in (first..).zip(a).zip(b) {
                    *b = *a + i;
                }
            });
            assert!(b.iter().enumerate().all(|(i, value)| *value == 2 * i));
        }
    }
}
