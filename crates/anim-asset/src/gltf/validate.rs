//! Holds the JSON of a file against the tables of the format.
//!
//! Reports what the official validator reports, with its codes and pointers, and changes nothing: later stages read
//! what is wrong as absent.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::json::Json;
use super::log::Log;
use super::schema::{Kind, Member, Need, ROOT};

use Kind::{
    Any, Code, Count, Flag, Index, List, LocalIndex, Map, Name, Number, Numbers, Object, Set, Text,
};

/// Reports everything in `root` that the table does not allow.
pub(super) fn check(root: &Json<'_>, log: &Log) {
    let used = root.list("extensionsUsed");
    let walk = Walk {
        root,
        used: used.iter().filter_map(Json::as_text).collect(),
        log,
    };
    walk.object(root, ROOT, &mut String::new());
    for (at, required) in root.list("extensionsRequired").iter().enumerate() {
        if let Some(name) = required.as_text().filter(|name| !walk.used.contains(name)) {
            let place = format!("/extensionsRequired/{at}");
            let message = format!("{name} is not in extensionsUsed");
            log.error("UNUSED_EXTENSION_REQUIRED", place, message);
        }
    }
}

struct Walk<'w, 'a> {
    root: &'w Json<'a>,
    used: Vec<&'w str>,
    log: &'w Log,
}

impl Walk<'_, '_> {
    fn object(&self, object: &Json<'_>, shape: &[Member], path: &mut String) {
        let place = if path.is_empty() {
            "/".to_owned()
        } else {
            path.clone()
        };
        for (name, value) in object.members() {
            let length = push(path, name);
            match shape.iter().find(|member| member.0 == name) {
                Some(Member(_, kind, need)) => {
                    if let Need::With(other) = need
                        && object.get(other).is_none()
                    {
                        let message = format!("needs {other}");
                        self.log.error("UNSATISFIED_DEPENDENCY", &*path, message);
                    }
                    self.value(value, kind, path);
                }
                None if name == "name" => self.value(value, &Text, path),
                None if name == "extensions" => self.extensions(value, path),
                None if name == "extras" => {}
                None => {
                    let message = "the format has no such member";
                    self.log.warning("UNEXPECTED_PROPERTY", &*path, message);
                }
            }
            path.truncate(length);
        }
        for Member(name, _, need) in shape {
            if matches!(need, Need::Required) && object.get(name).is_none() {
                let message = format!("{name} is missing");
                self.log.error("UNDEFINED_PROPERTY", &place, message);
            }
        }
    }

    fn extensions(&self, value: &Json<'_>, path: &mut String) {
        if !matches!(value, Json::Object(_)) {
            self.mismatch(path, "an object");
        }
        for (name, _) in value.members() {
            if !self.used.contains(&name.as_ref()) {
                let length = push(path, name);
                let message = "not in extensionsUsed";
                self.log.error("UNDECLARED_EXTENSION", &*path, message);
                path.truncate(length);
            }
        }
    }

    fn value(&self, value: &Json<'_>, kind: &Kind, path: &mut String) {
        match kind {
            Any => {}
            Flag if matches!(value, Json::Flag(_)) => {}
            Flag => self.mismatch(path, "true or false"),
            Text if matches!(value, Json::Text(_)) => {}
            Text => self.mismatch(path, "text"),
            Name(names) => match value.as_text() {
                Some(text) if !names.contains(&text) => self.unknown(path, text),
                Some(_) => {}
                None => self.mismatch(path, "text"),
            },
            Code(codes) => match (value, value.as_count()) {
                (_, Some(code)) if codes.contains(&code) => {}
                (Json::Number(number), _) => self.unknown(path, number),
                _ => self.mismatch(path, "an integer"),
            },
            Count(low, high) => self.count(value, *low, *high, path),
            Number(low, high) => match value {
                Json::Number(number) => self.range(*number, *low, *high, path),
                _ => self.mismatch(path, "a number"),
            },
            Index(list) => self.index(value, Some(list), path),
            LocalIndex => self.index(value, None, path),
            Numbers(lengths, low, high) => self.numbers(value, lengths, *low, *high, path),
            Object(shape) => match value {
                Json::Object(_) => self.object(value, shape, path),
                _ => self.mismatch(path, "an object"),
            },
            List(kind) => self.list(value, kind, path),
            Set(kind) => {
                self.list(value, kind, path);
                self.unique(value, path);
            }
            Map(kind) => {
                if !matches!(value, Json::Object(_)) {
                    return self.mismatch(path, "an object");
                }
                if value.members().is_empty() && !matches!(kind, Any) {
                    self.empty(path);
                }
                for (name, value) in value.members() {
                    let length = push(path, name);
                    self.value(value, kind, path);
                    path.truncate(length);
                }
            }
        }
    }

    fn count(&self, value: &Json<'_>, low: usize, high: usize, path: &str) {
        let Json::Number(number) = value else {
            return self.mismatch(path, "an integer");
        };
        if number.fract() != 0.0 {
            return self.mismatch(path, "an integer");
        }
        self.range(*number, low as f64, high as f64, path);
        if path.ends_with("/byteStride") && number % 4.0 != 0.0 {
            let message = format!("{number} is not a multiple of 4");
            self.log.error("VALUE_MULTIPLE_OF", path, message);
        }
    }

    fn range(&self, number: f64, low: f64, high: f64, path: &str) {
        // What does not fit single precision is infinite for whoever reads it.
        let finite = low >= 0.0 || (number as f32).is_finite();
        if !(number >= low && number <= high && finite) {
            let message = format!("{number:?} is out of range");
            self.log.error("VALUE_NOT_IN_RANGE", path, message);
        }
    }

    fn index(&self, value: &Json<'_>, list: Option<&str>, path: &str) {
        match (value, value.as_count()) {
            (_, Some(index)) => {
                if let Some(list) = list.filter(|list| index >= self.root.list(list).len()) {
                    let message = format!("{list} has no element {index}");
                    self.log.error("UNRESOLVED_REFERENCE", path, message);
                }
            }
            (Json::Number(number), None) => {
                let message = format!("{number} is not an index");
                self.log.error("INVALID_INDEX", path, message);
            }
            _ => self.mismatch(path, "an index"),
        }
    }

    fn numbers(&self, value: &Json<'_>, lengths: &[usize], low: f64, high: f64, path: &mut String) {
        let Json::Array(elements) = value else {
            return self.mismatch(path, "an array of numbers");
        };
        if elements.is_empty() {
            return self.empty(path);
        }
        if !(lengths.is_empty() || lengths.contains(&elements.len())) {
            let message = format!("{} numbers, not one of {lengths:?}", elements.len());
            self.log.error("ARRAY_LENGTH_NOT_IN_LIST", &*path, message);
        }
        for (at, element) in elements.iter().enumerate() {
            match element {
                Json::Number(number) => {
                    let length = push(path, &at.to_string());
                    self.range(*number, low, high, path);
                    path.truncate(length);
                }
                _ => self.mismatched_element(path, at),
            }
        }
    }

    fn list(&self, value: &Json<'_>, kind: &Kind, path: &mut String) {
        let Json::Array(elements) = value else {
            return self.mismatch(path, "an array");
        };
        if elements.is_empty() {
            return self.empty(path);
        }
        for (at, element) in elements.iter().enumerate() {
            let is_object = matches!(element, Json::Object(_));
            if matches!(kind, Object(_) | Map(_)) && !is_object {
                self.mismatched_element(path, at);
                continue;
            }
            let length = push(path, &at.to_string());
            self.value(element, kind, path);
            path.truncate(length);
        }
    }

    fn unique(&self, value: &Json<'_>, path: &str) {
        let Json::Array(elements) = value else {
            return;
        };
        let mut met = BTreeSet::new();
        for (at, element) in elements.iter().enumerate() {
            if element.as_count().is_some_and(|index| !met.insert(index)) {
                let message = "repeats an element before it";
                let place = format!("{path}/{at}");
                self.log.error("DUPLICATE_ELEMENTS", place, message);
            }
        }
    }

    fn mismatch(&self, path: &str, expected: &str) {
        let message = format!("not {expected}, and taken to be absent");
        self.log.error("TYPE_MISMATCH", path, message);
    }

    fn mismatched_element(&self, path: &str, at: usize) {
        let message = format!("element {at} has the wrong type");
        self.log.error("ARRAY_TYPE_MISMATCH", path, message);
    }

    fn empty(&self, path: &str) {
        self.log
            .error("EMPTY_ENTITY", path, "must not be empty, but absent");
    }

    fn unknown(&self, path: &str, value: impl std::fmt::Display) {
        let message = format!("{value} is not known");
        self.log.warning("VALUE_NOT_IN_LIST", path, message);
    }
}

/// Appends a name to a JSON pointer, and returns the length before.
fn push(path: &mut String, name: &str) -> usize {
    let length = path.len();
    let name = name.replace('~', "~0").replace('/', "~1");
    // Writing to a string cannot fail.
    let _ = write!(path, "/{name}");
    length
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Severity;

    fn check_text(text: &str) -> Vec<String> {
        let log = Log::default();
        check(&Json::parse(text.as_bytes()).unwrap(), &log);
        let findings = log.finish().into_iter();
        findings
            .filter(|finding| finding.severity == Severity::Error)
            .map(|finding| format!("{}@{}", finding.code, finding.location))
            .collect()
    }

    #[test]
    fn findings_name_their_place() {
        let check = |members: &str, expected: &[&str]| {
            let text = format!(r#"{{"asset":{{"version":"2.0"}}{members}}}"#);
            assert_eq!(check_text(&text), expected, "{text}");
        };
        check("", &[]);
        check(r#","nodes":[]"#, &["EMPTY_ENTITY@/nodes"]);
        check(r#","nodes":[1]"#, &["ARRAY_TYPE_MISMATCH@/nodes"]);
        check(
            r#","nodes":[{"children":[0,0,7]}]"#,
            &[
                "UNRESOLVED_REFERENCE@/nodes/0/children/2",
                "DUPLICATE_ELEMENTS@/nodes/0/children/1",
            ],
        );
        check(
            r#","nodes":[{"scale":[1,2]}]"#,
            &["ARRAY_LENGTH_NOT_IN_LIST@/nodes/0/scale"],
        );
        check(
            r#","nodes":[{"translation":[1e39,0,0]}]"#,
            &["VALUE_NOT_IN_RANGE@/nodes/0/translation/0"],
        );
        check(
            r#","nodes":[{"mesh":-1}]"#,
            &["INVALID_INDEX@/nodes/0/mesh"],
        );
    }

    #[test]
    fn pointers_escape_slashes() {
        let mut path = String::new();
        push(&mut path, "a/b~c");
        assert_eq!(path, "/a~1b~0c");
    }
}
