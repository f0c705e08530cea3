//! Elements of accessors: component types, shapes, and where the components lie.

/// The type of one component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Component {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl Component {
    /// By the code that files use.
    pub(super) fn from_code(code: usize) -> Option<Self> {
        Some(match code {
            5120 => Self::I8,
            5121 => Self::U8,
            5122 => Self::I16,
            5123 => Self::U16,
            5125 => Self::U32,
            5126 => Self::F32,
            _ => return None,
        })
    }

    /// Bytes.
    pub(super) fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::U32 | Self::F32 => 4,
        }
    }

    /// The value at the start of `bytes`, exactly.
    pub(super) fn decode(self, bytes: &[u8]) -> f64 {
        match (self, bytes) {
            (Self::I8, [a, ..]) => f64::from(*a as i8),
            (Self::U8, [a, ..]) => f64::from(*a),
            (Self::I16, [a, b, ..]) => f64::from(i16::from_le_bytes([*a, *b])),
            (Self::U16, [a, b, ..]) => f64::from(u16::from_le_bytes([*a, *b])),
            (Self::U32, [a, b, c, d, ..]) => f64::from(u32::from_le_bytes([*a, *b, *c, *d])),
            (Self::F32, [a, b, c, d, ..]) => f64::from(f32::from_le_bytes([*a, *b, *c, *d])),
            _ => 0.0,
        }
    }

    /// What a normalised integer stands for; −127 and −128 are both −1.
    pub(super) fn normalize(self, value: f64) -> f32 {
        let value = value as f32;
        match self {
            Self::I8 => (value / 127.0).max(-1.0),
            Self::U8 => value / 255.0,
            Self::I16 => (value / 32767.0).max(-1.0),
            Self::U16 => value / 65535.0,
            Self::U32 | Self::F32 => value,
        }
    }
}

/// Rows and columns of one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    rows: usize,
    columns: usize,
}

impl Shape {
    pub(super) fn from_name(name: &str) -> Option<Self> {
        let (rows, columns) = match name {
            "SCALAR" => (1, 1),
            "VEC2" => (2, 1),
            "VEC3" => (3, 1),
            "VEC4" => (4, 1),
            "MAT2" => (2, 2),
            "MAT3" => (3, 3),
            "MAT4" => (4, 4),
            _ => return None,
        };
        Some(Self { rows, columns })
    }

    /// Components of one element.
    pub(super) fn len(self) -> usize {
        self.rows * self.columns
    }

    /// True of MAT2, MAT3 and MAT4.
    pub(super) fn is_matrix(self) -> bool {
        self.columns > 1
    }

    /// Bytes from one column to the next: columns of matrices start at multiples of 4.
    fn column_stride(self, component: Component) -> usize {
        let column = self.rows * component.size();
        if self.is_matrix() {
            column.next_multiple_of(4)
        } else {
            column
        }
    }

    /// Bytes of one element, without padding after its last column.
    pub(super) fn size(self, component: Component) -> usize {
        self.column_stride(component) * (self.columns - 1) + self.rows * component.size()
    }

    /// Bytes of one element with the padding after its last column: the distance of packed elements.
    pub(super) fn packed_size(self, component: Component) -> usize {
        self.column_stride(component) * self.columns
    }

    /// Where each component lies in an element.
    pub(super) fn offsets(self, component: Component) -> [usize; 16] {
        let offset =
            |k| k / self.rows * self.column_stride(component) + k % self.rows * component.size();
        std::array::from_fn(|k| if k < self.len() { offset(k) } else { 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normalised_integers_are_fractions() {
        assert_eq!(Component::I8.normalize(-128.0), -1.0);
        assert_eq!(Component::I8.normalize(-127.0), -1.0);
        assert_eq!(Component::I16.normalize(32767.0), 1.0);
        assert_eq!(Component::U8.normalize(51.0), 0.2);
        assert_eq!(Component::U16.normalize(65535.0), 1.0);
    }

    #[test]
    fn columns_of_small_matrices_are_padded() {
        // The layouts of the specification, section 3.6.2.4.
        let check = |name: &str, component: Component, size: usize, packed: usize, last: usize| {
            let shape = Shape::from_name(name).unwrap();
            assert_eq!(shape.size(component), size, "{name}");
            assert_eq!(shape.packed_size(component), packed, "{name}");
            assert_eq!(shape.offsets(component)[shape.len() - 1], last, "{name}");
        };
        check("MAT2", Component::U8, 6, 8, 5);
        check("MAT3", Component::I8, 11, 12, 10);
        check("MAT3", Component::U16, 22, 24, 20);
        check("MAT4", Component::F32, 64, 64, 60);
        check("VEC3", Component::U8, 3, 3, 2);
    }
}
