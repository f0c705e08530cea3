//! Builds small glTF files.

use anim_asset::{AssetError, Document, Finding, Severity, gltf};
use serde_json::{Value, json};

/// A file under construction: the JSON, and one buffer.
pub(crate) struct Build {
    pub(crate) root: Value,
    bytes: Vec<u8>,
}

impl Build {
    /// A file that holds `members` beside its asset.
    pub(crate) fn new(members: Value) -> Self {
        let mut root = members;
        root["asset"] = json!({"version": "2.0"});
        root["accessors"] = json!([]);
        root["bufferViews"] = json!([]);
        Self {
            root,
            bytes: Vec::new(),
        }
    }

    /// Adds an accessor of type `kind` and component `code`, with min and max, and returns its index.
    pub(crate) fn accessor(&mut self, kind: &str, code: u32, values: &[f64]) -> usize {
        let width = match kind {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "MAT4" => 16,
            _ => 4,
        };
        let start = self.bytes.len().next_multiple_of(4);
        self.bytes.resize(start, 0);
        for value in values {
            match code {
                5120 => self.bytes.extend((*value as i8).to_le_bytes()),
                5121 => self.bytes.extend((*value as u8).to_le_bytes()),
                5122 => self.bytes.extend((*value as i16).to_le_bytes()),
                5123 => self.bytes.extend((*value as u16).to_le_bytes()),
                5125 => self.bytes.extend((*value as u32).to_le_bytes()),
                _ => self.bytes.extend((*value as f32).to_le_bytes()),
            }
        }
        let extreme = |component: usize, better: fn(f64, f64) -> f64| {
            let column = values.iter().skip(component).step_by(width);
            let value = column.copied().reduce(better).unwrap_or(0.0);
            if code == 5126 {
                f64::from(value as f32)
            } else {
                value
            }
        };
        let bounds = |better| -> Vec<f64> {
            (0..width)
                .map(|component| extreme(component, better))
                .collect()
        };
        let view = json!({
            "buffer": 0, "byteOffset": start, "byteLength": self.bytes.len() - start
        });
        let views = self.root["bufferViews"].as_array_mut().unwrap();
        views.push(view);
        let view = views.len() - 1;
        let accessors = self.root["accessors"].as_array_mut().unwrap();
        accessors.push(json!({
            "bufferView": view, "componentType": code, "type": kind, "count": values.len() / width,
            "min": bounds(f64::min), "max": bounds(f64::max)
        }));
        accessors.len() - 1
    }

    /// Reads the file.
    pub(crate) fn read(mut self) -> Result<Document, AssetError> {
        for list in ["accessors", "bufferViews"] {
            if self.root[list] == json!([]) {
                self.root.as_object_mut().unwrap().remove(list);
            }
        }
        if !self.bytes.is_empty() {
            self.root["buffers"] = json!([{"byteLength": self.bytes.len(), "uri": "a%20b.bin"}]);
        }
        let bytes = self.bytes;
        gltf::read(self.root.to_string().as_bytes(), &mut |uri| {
            assert_eq!(uri, "a b.bin");
            Ok(bytes.clone())
        })
    }
}

/// `CODE@place` of every finding of severity error.
pub(crate) fn errors(document: &Document) -> Vec<String> {
    let is_error = |finding: &&Finding| finding.severity == Severity::Error;
    let errors = document.findings.iter().filter(is_error);
    errors
        .map(|finding| format!("{}@{}", finding.code, finding.location))
        .collect()
}
