//! Connected components of a triangle mesh: what hangs together by shared vertices.
//!
//! Loose parts (eyes, buttons, debris) need an answer of their own wherever something flows over a surface: weights,
//! distances, linear systems that are singular once a part. Weld first ([`topology::weld`](crate::topology::weld)), or seams
//! of texture coordinates cut a surface into parts.
//!
//! ```
//! use anim_geom::Components;
//!
//! let parts = Components::new(7, &[[3, 4, 5], [0, 1, 2], [2, 1, 6]]);
//! assert_eq!(parts.count(), 2);
//! assert_eq!(parts.label(6), Some(0));
//! assert_eq!(parts.label(4), Some(1));
//! ```

/// The component of each of V vertices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Components {
    labels: Vec<Option<u32>>,
    count: usize,
}

impl Components {
    /// Joins the corners of each triangle. O((V + F) log V) at most.
    ///
    /// # Panics
    ///
    /// If a triangle names a vertex that is not below `vertex_count`.
    pub fn new(vertex_count: usize, triangles: &[[u32; 3]]) -> Self {
        // Parents are never above their children, so a root is the lowest vertex of its component.
        let mut parents: Vec<u32> = (0..vertex_count as u32).collect();
        let mut referenced = vec![false; vertex_count];
        for corners in triangles {
            for vertex in corners {
                referenced[*vertex as usize] = true;
                let (a, b) = (root(&mut parents, corners[0]), root(&mut parents, *vertex));
                parents[a.max(b) as usize] = a.min(b);
            }
        }
        let mut labels: Vec<Option<u32>> = vec![None; vertex_count];
        let mut count = 0;
        for vertex in 0..vertex_count {
            let root = root(&mut parents, vertex as u32) as usize;
            if !referenced[vertex] {
                continue;
            }
            if root == vertex {
                labels[vertex] = Some(count);
                count += 1;
            } else {
                labels[vertex] = labels[root];
            }
        }
        Self {
            labels,
            count: count as usize,
        }
    }

    /// How many components have a triangle.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The component of `vertex`, components counted by their lowest vertex; `None` if no triangle names it.
    ///
    /// # Panics
    ///
    /// If there is no such vertex.
    pub fn label(&self, vertex: usize) -> Option<u32> {
        self.labels[vertex]
    }

    /// [`label`](Self::label) of all V vertices.
    pub fn labels(&self) -> &[Option<u32>] {
        &self.labels
    }
}

/// The root of a disjoint set, whose parents are never above their children; shortens the way to it.
pub(crate) fn root(parents: &mut [u32], mut vertex: u32) -> u32 {
    while parents[vertex as usize] != vertex {
        let grandparent = parents[parents[vertex as usize] as usize];
        parents[vertex as usize] = grandparent;
        vertex = grandparent;
    }
    vertex
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_counted_by_their_lowest_vertex() {
        let parts = Components::new(8, &[[7, 6, 5], [4, 3, 1], [2, 1, 3]]);
        let labels = [
            None,
            Some(0),
            Some(0),
            Some(0),
            Some(0),
            Some(1),
            Some(1),
            Some(1),
        ];
        assert_eq!(parts.labels(), labels);
        assert_eq!(Components::new(2, &[]).count(), 0);
    }

    #[test]
    fn a_long_strip_is_one_component_whatever_the_order() {
        let mut triangles: Vec<[u32; 3]> = (0..998).map(|i| [i, i + 1, i + 2]).collect();
        triangles.reverse();
        assert_eq!(Components::new(1000, &triangles).count(), 1);
        triangles.remove(500);
        triangles.remove(500);
        assert_eq!(Components::new(1000, &triangles).count(), 2);
    }
}
