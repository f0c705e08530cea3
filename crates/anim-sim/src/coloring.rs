//! Greedy colouring of links: no two links of one colour share a vertex.
//!
//! Links of one colour can be projected in any order, eight at a time, with the same result. First-fit needs at most
//! one colour less than twice the largest number of links at a vertex, and in practice about that number. It depends on
//! the order of the links alone, so it is the same on every machine.

/// The colour of each link, counted from 0.
///
/// * `links`: pairs of vertices below `vertex_count`.
///
/// O(links × colours / 64).
pub(crate) fn color(links: &[[u32; 2]], vertex_count: usize) -> Vec<u32> {
    // One bit a colour, 64 a word: which colours touch a vertex.
    let mut used: Vec<Vec<u64>> = vec![Vec::new(); vertex_count];
    links
        .iter()
        .map(|&[a, b]| {
            let (a, b) = (a as usize, b as usize);
            let color = first_free(&used[a], &used[b]);
            for vertex in [a, b] {
                let words = &mut used[vertex];
                if words.len() <= color / 64 {
                    words.resize(color / 64 + 1, 0);
                }
                words[color / 64] |= 1 << (color % 64);
            }
            color as u32
        })
        .collect()
}

/// The lowest bit set in neither.
fn first_free(a: &[u64], b: &[u64]) -> usize {
    let words = a.len().max(b.len());
    for word in 0..words {
        let taken = a.get(word).unwrap_or(&0) | b.get(word).unwrap_or(&0);
        if taken != u64::MAX {
            return word * 64 + taken.trailing_ones() as usize;
        }
    }
    words * 64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn links_of_one_colour_share_no_vertex(
            links in prop::collection::vec((0u32..30, 1u32..30), 0..300)
        ) {
            let links: Vec<_> = links.iter().map(|(a, step)| [*a, (a + step) % 30]).collect();
            let colors = color(&links, 30);
            let most = colors.iter().max().copied().unwrap_or(0);
            for c in 0..=most {
                let mut seen = [false; 30];
                for (link, _) in links.iter().zip(&colors).filter(|(_, x)| **x == c) {
                    for v in link {
                        prop_assert!(!std::mem::replace(&mut seen[*v as usize], true));
                    }
                }
            }
        }
    }

    #[test]
    fn a_hub_needs_a_colour_for_each_spoke() {
        let spokes: Vec<_> = (1..200).map(|v| [0, v]).collect();
        let colors = color(&spokes, 200);
        assert_eq!(colors, (0..199).collect::<Vec<u32>>());
    }
}
