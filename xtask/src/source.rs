//! Just enough of Rust's grammar to tell code from comments and strings.

/// `text` with comments, strings and characters blanked; every byte position stays.
pub(crate) fn code_only(text: &str) -> String {
    let mut scanner = Scanner {
        rest: text,
        code: String::with_capacity(text.len()),
    };
    while !scanner.rest.is_empty() {
        scanner.step();
    }
    scanner.code
}

/// The part of a file before its unit tests.
pub(crate) fn without_tests(code: &str) -> &str {
    code.find("#[cfg(test)]\nmod tests")
        .map_or(code, |end| &code[..end])
}

/// Positions at which `word` stands alone, not inside a longer identifier.
pub(crate) fn words<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(word)
        .filter(move |(at, _)| {
            !code[..*at].ends_with(part) && !code[at + word.len()..].starts_with(part)
        })
        .map(|(at, _)| at)
}

/// The line, from 1, of a byte position.
pub(crate) fn line_of(text: &str, at: usize) -> usize {
    1 + text[..at].matches('\n').count()
}

struct Scanner<'a> {
    rest: &'a str,
    code: String,
}

impl Scanner<'_> {
    /// Consumes one comment, one literal or one character.
    fn step(&mut self) {
        let rest = self.rest;
        if rest.starts_with("//") {
            self.blank(rest.find('\n').unwrap_or(rest.len()));
        } else if rest.starts_with("/*") {
            self.blank(block_comment(rest));
        } else if let Some(length) = raw_string(rest) {
            self.blank(length);
        } else if rest.starts_with('"') {
            self.blank(quoted(rest, '"'));
        } else if is_character(rest) {
            self.blank(quoted(rest, '\''));
        } else {
            self.keep();
        }
    }

    /// Keeps a whole word or one other character, so that the `r` at the end of a word starts no literal.
    fn keep(&mut self) {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let first = self.rest.chars().next().map_or(0, char::len_utf8);
        let length = self.rest.find(|c| !word(c)).unwrap_or(self.rest.len());
        let (kept, rest) = self.rest.split_at(length.max(first));
        self.code.push_str(kept);
        self.rest = rest;
    }

    fn blank(&mut self, bytes: usize) {
        let (gone, rest) = self.rest.split_at(bytes);
        let blanks = gone.bytes().map(|b| if b == b'\n' { '\n' } else { ' ' });
        self.code.extend(blanks);
        self.rest = rest;
    }
}

/// Bytes of the block comment at the start; they nest.
fn block_comment(text: &str) -> usize {
    let mut depth = 0usize;
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// Bytes of the raw string at the start, if there is one.
fn raw_string(text: &str) -> Option<usize> {
    let after = text.strip_prefix("br").or_else(|| text.strip_prefix('r'))?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    let body = after[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let length = body.find(&end).map_or(body.len(), |at| at + end.len());
    Some(text.len() - body.len() + length)
}

/// Bytes of the literal at the start, up to its unescaped closing quote.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// True for a character literal, false for a lifetime.
fn is_character(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next() == Some('\'')
        && (characters.next() == Some('\\') || characters.next() == Some('\''))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_blanked_and_lines_kept() {
        let cases = [
            ("a // b\nc", "a     \nc"),
            ("a /* b /* c */ d */ e", "a                   e"),
            (r#"f("x \" y", z)"#, "f(        , z)"),
            ("r##\"a\"# b\"## c", "             c"),
            (
                "fn f<'a>(x: &'a str) { 'y' }",
                "fn f<'a>(x: &'a str) {     }",
            ),
            (r"['\'', '\\']", "[    ,     ]"),
            ("/* \n */x", "   \n   x"),
            ("for \"q\"", "for    "),
        ];
        for (text, expected) in cases {
            assert_eq!(code_only(text), expected, "{text}");
        }
    }

    #[test]
    fn words_are_whole() {
        assert_eq!(
            words("unsafe_code unsafe {", "unsafe").collect::<Vec<_>>(),
            [12]
        );
        assert_eq!(line_of("a\nb\nc", 4), 3);
    }

    #[test]
    fn tests_end_the_library_part() {
        assert_eq!(without_tests("a\n#[cfg(test)]\nmod tests {}"), "a\n");
        assert_eq!(
            without_tests("#[cfg(test)]\nuse x;\nb"),
            "#[cfg(test)]\nuse x;\nb"
        );
    }
}
