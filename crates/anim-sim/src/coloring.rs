//! Greedy colouring of elements: no two elements of one colour share a vertex, whatever their kinds.
//!
//! Elements of one colour can be projected in any order, eight at a time, with the same result. First-fit needs at most
//! a colour more than an element has neighbours, and in practice about as many as meet at a vertex. It depends on the
//! order of the elements alone, so it is the same on every machine.

/// The colour of each element, counted from 0.
///
/// * `elements`: the vertices of each, below `vertex_count`.
///
/// O(elements × colours / 64).
pub(crate) fn color<'a>(
    elements: impl Iterator<Item = &'a [u32]>,
    vertex_count: usize,
) -> Vec<u32> {
    // One bit a colour, 64 a word: which colours touch a vertex.
    let mut used: Vec<Vec<u64>> = vec![Vec::new(); vertex_count];
    elements
        .map(|vertices| {
            let color = first_free(vertices.iter().map(|v| used[*v as usize].as_slice()));
            for vertex in vertices {
                let words = &mut used[*vertex as usize];
                if words.len() <= color / 64 {
                    words.resize(color / 64 + 1, 0);
                }
                words[color / 64] |= 1 << (color % 64);
            }
            color as u32
        })
        .collect()
}

/// The lowest bit set in none.
fn first_free<'a>(sets: impl Iterator<Item = &'a [u64]> + Clone) -> usize {
    let words = sets.clone().map(<[u64]>::len).max().unwrap_or(0);
    for word in 0..words {
        let taken = sets
            .clone()
            .fold(0, |taken, set| taken | set.get(word).unwrap_or(&0));
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
        fn elements_of_one_colour_share_no_vertex(
            elements in prop::collection::vec((0u32..30, 1u32..10, 2usize..5), 0..300)
        ) {
            let elements: Vec<Vec<u32>> = elements
                .iter()
                .map(|(first, step, count)| (0..*count as u32).map(|k| (first + k * step) % 30).collect())
                .filter(|vertices: &Vec<u32>| (1..vertices.len()).all(|k| !vertices[..k].contains(&vertices[k])))
                .collect();
            let colors = color(elements.iter().map(Vec::as_slice), 30);
            let most = colors.iter().max().copied().unwrap_or(0);
            for c in 0..=most {
                let mut seen = [false; 30];
                for (element, _) in elements.iter().zip(&colors).filter(|(_, x)| **x == c) {
                    for v in element {
                        prop_assert!(!std::mem::replace(&mut seen[*v as usize], true));
                    }
                }
            }
        }
    }

    #[test]
    fn a_hub_needs_a_colour_for_each_spoke() {
        let spokes: Vec<_> = (1..200).map(|v| [0, v]).collect();
        let colors = color(spokes.iter().map(<[u32; 2]>::as_slice), 200);
        assert_eq!(colors, (0..199).collect::<Vec<u32>>());
    }
}
