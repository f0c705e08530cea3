//! Lines of an OBJ as words: comments left out, lines that end in a backslash joined.

/// A word and where it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) byte: usize,
    pub(super) text: &'a [u8],
}

/// The statements of a file, one after the other.
pub(super) struct Statements<'a> {
    bytes: &'a [u8],
    at: usize,
    tokens: Vec<Token<'a>>,
}

impl<'a> Statements<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        // A byte order mark is no word.
        let at = if bytes.starts_with(b"\xEF\xBB\xBF") {
            3
        } else {
            0
        };
        Self {
            bytes,
            at,
            tokens: Vec::new(),
        }
    }

    /// The words of the next line, perhaps none; `None` at the end.
    pub(super) fn next_line(&mut self) -> Option<&[Token<'a>]> {
        if self.at >= self.bytes.len() {
            return None;
        }
        self.tokens.clear();
        while self.line() {}
        Some(&self.tokens)
    }

    /// Takes the words of one line; true if the next one goes on with it.
    fn line(&mut self) -> bool {
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        let end = self.at + length.unwrap_or(rest.len());
        let mut at = self.at;
        self.at = match &self.bytes[end..] {
            [b'\r', b'\n', ..] => end + 2,
            _ => end + 1,
        };
        while at < end {
            let line = &self.bytes[at..end];
            let word = line.iter().position(|byte| !byte.is_ascii_whitespace());
            let Some(start) = word.map(|start| at + start) else {
                break;
            };
            let line = &self.bytes[start..end];
            if line[0] == b'#' {
                break;
            }
            let length = line.iter().position(u8::is_ascii_whitespace);
            at = start + length.unwrap_or(line.len());
            let text = &self.bytes[start..at];
            let joined = (at == end).then(|| text.strip_suffix(b"\\")).flatten();
            let word = joined.unwrap_or(text);
            if !word.is_empty() {
                self.tokens.push(Token {
                    byte: start,
                    text: word,
                });
            }
            if joined.is_some() {
                return self.at < self.bytes.len();
            }
        }
        false
    }
}

/// `line L column C` of a byte, both from 1.
pub(super) fn place(bytes: &[u8], byte: usize) -> String {
    let before = &bytes[..byte.min(bytes.len())];
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let start = before.iter().rposition(|byte| *byte == b'\n');
    let column = before.len() - start.map_or(0, |start| start + 1) + 1;
    format!("line {line} column {column}")
}
