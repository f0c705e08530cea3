//! JSON values that borrow their text, and lenient typed access to them.
//!
//! Access never reports: what has the wrong type reads as absent, because [`validate`](super::validate) has already said
//! so. Strings are borrowed where they have no escapes, so an embedded buffer is not copied, and the memory of all
//! values is bounded by the length of the text.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::AssetError;

/// A JSON value; members are sorted by name, so that looking one up is fast in any object.
pub(super) enum Json<'a> {
    Null,
    Flag(bool),
    Number(f64),
    Text(Cow<'a, str>),
    Array(Vec<Json<'a>>),
    Object(Vec<Member<'a>>),
}

/// A name and its value.
pub(super) type Member<'a> = (Cow<'a, str>, Json<'a>);

impl<'a> Json<'a> {
    /// Parses the whole of `text`; nesting is limited to 128 levels.
    ///
    /// # Errors
    ///
    /// `INVALID_JSON` with the line and column.
    pub(super) fn parse(text: &'a [u8]) -> Result<Self, AssetError> {
        let allowance = Cell::new((24_usize << 20).saturating_add(text.len().saturating_mul(4)));
        let mut deserializer = serde_json::Deserializer::from_slice(text);
        let value = Build(&allowance).deserialize(&mut deserializer);
        value
            .and_then(|value| deserializer.end().map(|()| value))
            .map_err(|error| {
                let full = error.to_string();
                let message = full.split(" at line ").next().unwrap_or_default();
                AssetError {
                    code: "INVALID_JSON",
                    location: format!("line {} column {}", error.line(), error.column()),
                    message: message.to_owned(),
                }
            })
    }

    /// The member `name`.
    pub(super) fn get(&self, name: &str) -> Option<&Self> {
        let members = self.members();
        let place = members.binary_search_by(|(key, _)| key.as_ref().cmp(name));
        place.ok().map(|place| &members[place].1)
    }

    /// The members of an object, by ascending name; none of anything else.
    pub(super) fn members(&self) -> &[Member<'a>] {
        match self {
            Self::Object(members) => members,
            _ => &[],
        }
    }

    /// The elements of the array `name`; none if it is absent or something else.
    pub(super) fn list(&self, name: &str) -> &[Self] {
        match self.get(name) {
            Some(Self::Array(elements)) => elements,
            _ => &[],
        }
    }

    /// This value as a count or an index.
    pub(super) fn as_count(&self) -> Option<usize> {
        match self {
            // 2⁵³ is the last integer that JSON numbers hold without doubt.
            Self::Number(n) if *n >= 0.0 && n.fract() == 0.0 && *n <= 9_007_199_254_740_992.0 => {
                Some(*n as usize)
            }
            _ => None,
        }
    }

    /// This value as text.
    pub(super) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// This value as a finite number of single precision.
    pub(super) fn as_number(&self) -> Option<f32> {
        match self {
            Self::Number(n) => Some(*n as f32).filter(|n| n.is_finite()),
            _ => None,
        }
    }

    /// The member `name` as a count or an index.
    pub(super) fn count(&self, name: &str) -> Option<usize> {
        self.get(name)?.as_count()
    }

    /// The member `name` as text.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_text()
    }

    /// True if the member `name` is `true`.
    pub(super) fn flag(&self, name: &str) -> bool {
        matches!(self.get(name), Some(Self::Flag(true)))
    }

    /// The numbers of the array `name`; those that are not numbers are left out.
    pub(super) fn numbers(&self, name: &str) -> Vec<f32> {
        self.list(name).iter().filter_map(Self::as_number).collect()
    }

    /// The member `name` as exactly N finite numbers.
    pub(super) fn floats<const N: usize>(&self, name: &str) -> Option<[f32; N]> {
        let elements = self.list(name);
        let mut floats = [0.0; N];
        if elements.len() != N {
            return None;
        }
        for (float, element) in floats.iter_mut().zip(elements) {
            *float = element.as_number()?;
        }
        Some(floats)
    }
}

/// Bytes that a value may cost while an array or object grows: three times its final size.
const GROWTH: usize = 3;

/// Builds values while the allowance lasts.
#[derive(Clone, Copy)]
struct Build<'b>(&'b Cell<usize>);

impl Build<'_> {
    fn charge<E: de::Error>(self, bytes: usize) -> Result<(), E> {
        let left = self.0.get().checked_sub(bytes);
        self.0
            .set(left.ok_or_else(|| E::custom("too many values for the size of the file"))?);
        Ok(())
    }

    fn refund(self, bytes: usize) {
        self.0.set(self.0.get().saturating_add(bytes));
    }
}

impl<'de> DeserializeSeed<'de> for Build<'_> {
    type Value = Json<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json<'de>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Build<'_> {
    type Value = Json<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json<'de>, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json<'de>, E> {
        Ok(Json::Flag(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json<'de>, E> {
        Ok(Json::Number(value as f64))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json<'de>, E> {
        Ok(Json::Number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json<'de>, E> {
        Ok(Json::Number(value))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Json<'de>, E> {
        Ok(Json::Text(Cow::Borrowed(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json<'de>, E> {
        Ok(Json::Text(Cow::Owned(value.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Json<'de>, A::Error> {
        const SIZE: usize = size_of::<Json<'static>>();
        let mut elements = Vec::new();
        while let Some(element) = sequence.next_element_seed(self)? {
            self.charge(GROWTH * SIZE)?;
            elements.push(element);
        }
        elements.shrink_to_fit();
        self.refund((GROWTH - 1) * SIZE * elements.len());
        Ok(Json::Array(elements))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json<'de>, A::Error> {
        const SIZE: usize = size_of::<Member<'static>>();
        let mut members: Vec<Member<'de>> = Vec::new();
        while let Some(key) = map.next_key_seed(self)? {
            self.charge(GROWTH * SIZE)?;
            let value = map.next_value_seed(self)?;
            if let Json::Text(key) = key {
                members.push((key, value));
            }
        }
        self.refund((GROWTH - 1) * SIZE * members.len());
        // Of members of the same name the last one counts, as everywhere.
        members.reverse();
        members.sort_by(|(a, _), (b, _)| a.cmp(b));
        members.dedup_by(|(a, _), (b, _)| a == b);
        members.shrink_to_fit();
        Ok(Json::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_read_leniently() {
        let json = Json::parse(br#"{"a":1.0,"b":-1,"c":"x","d":[1,2,3],"a":2}"#).unwrap();
        assert_eq!(json.count("a"), Some(2));
        assert_eq!(json.count("b"), None);
        assert_eq!(json.text("c"), Some("x"));
        assert_eq!(json.floats::<3>("d"), Some([1.0, 2.0, 3.0]));
        assert_eq!(json.floats::<2>("d"), None);
        assert!(json.list("c").is_empty());
    }

    #[test]
    fn a_broken_text_tells_line_and_column() {
        let error = Json::parse(b"{\n \"a\": tru }").err().unwrap();
        assert_eq!(error.code, "INVALID_JSON");
        assert!(error.location.starts_with("line 2"), "{}", error.location);
    }

    #[test]
    fn deep_nesting_is_an_error_rather_than_an_overflow() {
        let deep = vec![b'['; 100_000];
        assert!(Json::parse(&deep).is_err());
    }

    #[test]
    fn a_dense_text_is_refused_before_it_fills_the_memory() {
        let dense = [b"[".as_slice(), &b"0,".repeat(4 << 20), b"0]"].concat();
        assert!(Json::parse(&dense).is_err());
    }
}
