//! Accessors: typed arrays in buffer views, dense, strided or sparse.
//!
//! Layouts are checked once, when all accessors are opened; what does not fit is reported and cannot be read
//! afterwards. Reading decodes straight into arrays of N components.

use super::budget::Budget;
use super::buffer::View;
use super::element::{Component, Shape};
use super::json::Json;
use super::log::Log;
use crate::{AssetError, Severity};

/// Where elements come from before the sparse ones replace some.
#[derive(Clone, Copy)]
enum Base<'a> {
    /// No view: all zero, as the format says.
    Zeros,
    /// There should be data, but the file has none, or they do not fit.
    Missing,
    Bytes {
        bytes: &'a [u8],
        stride: usize,
    },
}

/// Elements that replace those of the base.
#[derive(Clone, Copy)]
struct Sparse<'a> {
    count: usize,
    index: Component,
    indices: &'a [u8],
    values: &'a [u8],
}

impl Sparse<'_> {
    /// The element that value `at` replaces.
    fn target(&self, at: usize) -> usize {
        self.index.decode(&self.indices[at * self.index.size()..]) as usize
    }
}

/// Ascending indices of elements, and their values.
pub(super) type Stored<const N: usize> = Vec<(usize, [f32; N])>;

/// A typed array that can be read.
pub(super) struct Accessor<'a> {
    /// Its place in the file.
    pub(super) index: usize,
    /// Elements.
    pub(super) count: usize,
    /// The type of a component.
    pub(super) component: Component,
    /// The shape of an element.
    pub(super) shape: Shape,
    /// True if integers stand for fractions.
    pub(super) normalized: bool,
    /// True if `min` and `max` are given.
    pub(super) has_bounds: bool,
    /// The view of the base, if any.
    pub(super) view: Option<usize>,
    /// Bytes into that view.
    pub(super) offset: usize,
    base: Base<'a>,
    sparse: Option<Sparse<'a>>,
}

impl<'a> Accessor<'a> {
    /// Opens accessor `index`; `None` if it has no readable format.
    pub(super) fn open(
        index: usize,
        json: &Json<'_>,
        views: &[View<'a>],
        log: &Log,
    ) -> Option<Self> {
        let component = Component::from_code(json.count("componentType")?)?;
        let shape = Shape::from_name(json.text("type")?)?;
        let mut accessor = Self {
            index,
            count: json.count("count")?,
            component,
            shape,
            normalized: json.flag("normalized"),
            has_bounds: json.list("min").len() == shape.len()
                && json.list("max").len() == shape.len(),
            view: json.count("bufferView"),
            offset: json.count("byteOffset").unwrap_or(0),
            base: Base::Zeros,
            sparse: None,
        };
        let place = accessor.place();
        for bound in ["min", "max"] {
            let found = json.list(bound).len();
            // Lengths that no element has are already named.
            if [1, 2, 3, 4, 9, 16].contains(&found) && found != shape.len() {
                let message = format_args!("{found} numbers for {} components", shape.len());
                let place = format!("{place}/{bound}");
                log.error("ARRAY_LENGTH_NOT_IN_LIST", place, message);
            }
        }
        if accessor.normalized && matches!(component, Component::F32 | Component::U32) {
            let message = "only integers of 8 and 16 bits can be normalised";
            let place = format!("{place}/normalized");
            log.error("ACCESSOR_NORMALIZED_INVALID", place, message);
        }
        if json.get("bufferView").is_some() {
            accessor.base = accessor.open_base(views, log);
        }
        if let Some(sparse) = json.get("sparse") {
            accessor.sparse = accessor.open_sparse(sparse, views, log);
            if accessor.sparse.is_none() {
                accessor.base = Base::Missing;
            }
        }
        Some(accessor)
    }

    /// Its JSON pointer.
    pub(super) fn place(&self) -> String {
        format!("/accessors/{}", self.index)
    }

    fn open_base(&self, views: &[View<'a>], log: &Log) -> Base<'a> {
        let Some(view) = self.view.and_then(|view| views.get(view)) else {
            return Base::Missing;
        };
        let place = self.place();
        let size = self.shape.size(self.component);
        let packed = self.shape.packed_size(self.component);
        let stride = view.stride.unwrap_or(packed);
        if stride < size {
            let message = format_args!("elements of {size} bytes, {stride} apart");
            log.error("ACCESSOR_SMALL_BYTESTRIDE", &place, message);
            return Base::Missing;
        }
        self.check_alignment(view, log);
        // The last element needs no padding after it.
        let before_last = self.count.saturating_sub(1).checked_mul(stride);
        let needed = before_last
            .and_then(|bytes| bytes.checked_add(size)?.checked_add(self.offset))
            .unwrap_or(usize::MAX);
        if needed > view.length {
            let place = if self.offset >= view.length {
                format!("{place}/byteOffset")
            } else {
                place
            };
            let message = format_args!("{needed} bytes of a view of {}", view.length);
            log.error("ACCESSOR_TOO_LONG", place, message);
            return Base::Missing;
        }
        match view.bytes {
            Some(bytes) if needed <= bytes.len() => Base::Bytes {
                bytes: &bytes[self.offset..],
                stride,
            },
            _ => Base::Missing,
        }
    }

    fn check_alignment(&self, view: &View<'_>, log: &Log) {
        let place = self.place();
        let size = self.component.size();
        if !self.offset.is_multiple_of(size) {
            let message = format_args!("{} is not a multiple of {size}", self.offset);
            let place = format!("{place}/byteOffset");
            log.error("ACCESSOR_OFFSET_ALIGNMENT", place, message);
        }
        let total = view.offset.saturating_add(self.offset);
        if !total.is_multiple_of(size) {
            let message = format_args!("starts at byte {total}, not at a multiple of {size}");
            log.error("ACCESSOR_TOTAL_OFFSET_ALIGNMENT", &place, message);
        }
        if self.shape.is_matrix() && !self.offset.is_multiple_of(4) {
            let message = format_args!("{} is not a multiple of 4", self.offset);
            let place = format!("{place}/byteOffset");
            log.error("ACCESSOR_MATRIX_ALIGNMENT", place, message);
        }
    }

    fn open_sparse(&self, json: &Json<'_>, views: &[View<'a>], log: &Log) -> Option<Sparse<'a>> {
        let place = format!("{}/sparse", self.place());
        let count = json.count("count")?;
        if count > self.count {
            let message = format_args!("{count} of {} elements", self.count);
            let place = format!("{place}/count");
            log.error("ACCESSOR_SPARSE_COUNT_OUT_OF_RANGE", place, message);
        }
        let index = Component::from_code(json.get("indices")?.count("componentType")?)
            .filter(|index| matches!(index, Component::U8 | Component::U16 | Component::U32))?;
        let part = |name: &str, size: usize, alignment: usize| {
            let json = json.get(name)?;
            let view = views.get(json.count("bufferView")?)?;
            let offset = json.count("byteOffset").unwrap_or(0);
            if view.stride.is_some() {
                let place = format!("{place}/{name}/bufferView");
                let message = "sparse data must not be strided; the stride is ignored";
                log.error("BUFFER_VIEW_INVALID_BYTE_STRIDE", place, message);
            }
            let total = view.offset.saturating_add(offset);
            if !total.is_multiple_of(alignment) {
                let message =
                    format_args!("starts at byte {total}, not at a multiple of {alignment}");
                let place = format!("{place}/{name}");
                log.error("ACCESSOR_TOTAL_OFFSET_ALIGNMENT", place, message);
            }
            let end = count.checked_mul(size)?.checked_add(offset);
            if end.is_none_or(|end| end > view.length) {
                let message = format_args!("{count} {name} do not fit the view");
                let place = format!("{place}/{name}");
                log.error("ACCESSOR_TOO_LONG", place, message);
                return None;
            }
            view.bytes?.get(offset..end?)
        };
        // Sparse values are packed as a view without a stride would be.
        let size = self.shape.packed_size(self.component);
        let indices = part("indices", index.size(), index.size());
        let values = part("values", size, self.component.size());
        let sparse = Sparse {
            count,
            index,
            indices: indices?,
            values: values?,
        };
        let mut before = None;
        for at in 0..count {
            let target = sparse.target(at);
            if before.is_some_and(|before| target <= before) {
                let message = format_args!("index {target} at place {at} does not rise");
                log.error("ACCESSOR_SPARSE_INDICES_NON_INCREASING", &place, message);
            }
            if target >= self.count {
                let message =
                    format_args!("index {target} at place {at}, but {} elements", self.count);
                log.error("ACCESSOR_SPARSE_INDEX_OOB", &place, message);
            }
            before = Some(target);
        }
        Some(sparse)
    }

    /// True unless data are missing.
    pub(super) fn is_readable(&self) -> bool {
        !matches!(self.base, Base::Missing)
    }

    /// True if the file stores nothing for it, so that it is all zeros by definition.
    pub(super) fn is_zeros(&self) -> bool {
        matches!(self.base, Base::Zeros) && self.sparse.is_none()
    }

    /// How bad wrong values are: those that are zeros by definition are no more than suspicious.
    pub(super) fn value_severity(&self) -> Severity {
        if self.is_zeros() {
            Severity::Warning
        } else {
            Severity::Error
        }
    }

    /// All elements as floats, normalised integers as the fractions they stand for; `None` if data are missing or an
    /// element has not N components.
    ///
    /// # Errors
    ///
    /// `TOO_LARGE` beyond the budget.
    pub(super) fn floats<const N: usize>(
        &self,
        budget: &Budget,
    ) -> Result<Option<Vec<[f32; N]>>, AssetError> {
        let component = self.component;
        if self.normalized {
            self.elements(budget, |value| component.normalize(value))
        } else {
            self.elements(budget, |value| value as f32)
        }
    }

    /// All elements as integers; floats are truncated.
    ///
    /// # Errors
    ///
    /// `TOO_LARGE` beyond the budget.
    pub(super) fn integers<const N: usize>(
        &self,
        budget: &Budget,
    ) -> Result<Option<Vec<[u32; N]>>, AssetError> {
        self.elements(budget, |value| value as u32)
    }

    /// The stored values without normalisation, exactly; see [`floats`](Self::floats).
    fn elements<T: Copy + Default, const N: usize>(
        &self,
        budget: &Budget,
        convert: impl Fn(f64) -> T,
    ) -> Result<Option<Vec<[T; N]>>, AssetError> {
        if self.shape.len() != N || !self.is_readable() {
            return Ok(None);
        }
        budget.take(self.count, size_of::<[T; N]>(), &self.place())?;
        let offsets = self.shape.offsets(self.component);
        let decode = |element: &[u8]| {
            std::array::from_fn(|k| convert(self.component.decode(&element[offsets[k]..])))
        };
        let mut elements: Vec<[T; N]> = match self.base {
            Base::Bytes { bytes, stride } => (0..self.count)
                .map(|at| decode(&bytes[at * stride..]))
                .collect(),
            _ => vec![[convert(0.0); N]; self.count],
        };
        if let Some(sparse) = self.sparse {
            let size = self.shape.packed_size(self.component);
            for at in 0..sparse.count {
                if let Some(element) = elements.get_mut(sparse.target(at)) {
                    *element = decode(&sparse.values[at * size..]);
                }
            }
        }
        Ok(Some(elements))
    }

    /// The elements that the file stores of an accessor that is zero elsewhere, as ascending (index, floats); `None` if
    /// it is not of this kind.
    ///
    /// # Errors
    ///
    /// `TOO_LARGE` beyond the budget.
    pub(super) fn stored<const N: usize>(
        &self,
        budget: &Budget,
    ) -> Result<Option<Stored<N>>, AssetError> {
        let (Base::Zeros, true) = (self.base, self.shape.len() == N) else {
            return Ok(None);
        };
        let Some(sparse) = self.sparse else {
            return Ok(Some(Vec::new()));
        };
        budget.take(sparse.count, size_of::<(usize, [f32; N])>(), &self.place())?;
        let size = self.shape.packed_size(self.component);
        let offsets = self.shape.offsets(self.component);
        let value = |element: &[u8], k: usize| {
            let value = self.component.decode(&element[offsets[k]..]);
            if self.normalized {
                self.component.normalize(value)
            } else {
                value as f32
            }
        };
        let mut stored: Stored<N> = (0..sparse.count)
            .map(|at| {
                let element = &sparse.values[at * size..];
                (
                    sparse.target(at),
                    std::array::from_fn(|k| value(element, k)),
                )
            })
            .filter(|(target, _)| *target < self.count)
            .collect();
        stored.sort_by_key(|(target, _)| *target);
        // Of equal indices the last wins, as it does when they are written one after the other.
        stored.reverse();
        stored.dedup_by_key(|(target, _)| *target);
        stored.reverse();
        Ok(Some(stored))
    }

    /// Calls `visit(component, value)` with every stored component, exactly; nothing where data are missing or zeros by
    /// definition, or where looking at them all would take too long.
    pub(super) fn scan(&self, budget: &Budget, mut visit: impl FnMut(usize, usize, f64)) {
        if !self.is_readable() || self.is_zeros() {
            return;
        }
        let width = self.shape.len();
        // A look at a component costs about what decoding it to a float does.
        let work = self.count.saturating_mul(width * size_of::<f32>());
        if !budget.may_scan(work) {
            return;
        }
        let offsets = self.shape.offsets(self.component);
        let mut element = |at: usize, bytes: &[u8]| {
            for (k, offset) in offsets.iter().enumerate().take(width) {
                let bytes = bytes.get(*offset..).unwrap_or_default();
                visit(at, k, self.component.decode(bytes));
            }
        };
        let replaced: Vec<u32> = match self.sparse {
            Some(sparse) => {
                let size = self.shape.packed_size(self.component);
                for at in 0..sparse.count {
                    element(sparse.target(at), &sparse.values[at * size..]);
                }
                let mut replaced: Vec<u32> = (0..sparse.count)
                    .map(|at| sparse.target(at) as u32)
                    .collect();
                replaced.sort_unstable();
                replaced
            }
            None => Vec::new(),
        };
        match self.base {
            Base::Bytes { bytes, stride } => {
                for at in 0..self.count {
                    if replaced.is_empty() || replaced.binary_search(&(at as u32)).is_err() {
                        element(at, &bytes[at * stride..]);
                    }
                }
            }
            _ if replaced.len() < self.count => element(0, &[]),
            _ => {}
        }
    }
}
