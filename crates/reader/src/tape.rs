//! Document as a flat list of nodes in reading order.
//!
//! Nodes point into the text instead of owning values. Numbers therefore keep every digit, and intact strings every
//! byte. Text that repair had to rewrite lies in a second buffer, already spelled as JSON.

use std::{borrow::Cow, fmt::Write};

/// Kind of a node of a parsed document: its JSON type, or what stands in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Null,
    True,
    False,
    /// A number, as the text of the node spells it in JSON.
    Number,
    /// A string, whose text in the node has its quotes.
    String,
    /// Text without quotes. The schema decides its type; without one, its spelling does.
    Bare,
    /// The value of a key that has none.
    Missing,
    Array,
    /// Values in braces without keys, which is a set of Python: `{1, 2}`.
    Set,
    /// An object: keys and values by turns. Keys are always `String`.
    Object,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    pub(super) kind: Kind,
    /// `true` if the node's text lies in the second buffer, which has text that the reader made.
    pub(super) made: bool,
    pub(super) start: u32,
    pub(super) end: u32,
    /// Index of the next node that is not below this one.
    pub(super) next: u32,
}

#[derive(Debug, Clone)]
pub(super) struct Tape<'a> {
    pub(super) source: Cow<'a, str>,
    pub(super) made: String,
    pub(super) nodes: Vec<Node>,
    /// `true` if the source is valid JSON, so that its parts can be copied unchanged.
    pub(super) intact: bool,
    /// Nodes without a closing bracket of their own, which the end of the text closed. If one of them is an object,
    /// members may be missing.
    pub(super) unclosed: Vec<u32>,
}

impl<'a> Tape<'a> {
    pub(super) fn new(source: impl Into<Cow<'a, str>>) -> Self {
        Self {
            source: source.into(),
            made: String::new(),
            nodes: Vec::new(),
            intact: false,
            unclosed: Vec::new(),
        }
    }

    pub(super) fn kind(&self, at: usize) -> Kind {
        self.nodes[at].kind
    }

    pub(super) fn next(&self, at: usize) -> usize {
        self.nodes[at].next as usize
    }

    /// Returns the text of a node as it stands, in the source or in the text that the reader made.
    pub(super) fn text(&self, at: usize) -> &str {
        let node = self.nodes[at];
        let text: &str = if node.made { &self.made } else { &self.source };
        &text[node.start as usize..node.end as usize]
    }

    /// Returns the children of a list, or the keys and values of an object by turns.
    pub(super) fn children(&self, at: usize) -> Children<'_> {
        Children {
            nodes: &self.nodes,
            at: at + 1,
            end: self.next(at),
        }
    }

    /// Returns the key and value nodes of an object.
    pub(super) fn members(&self, at: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let mut children = self.children(at);
        std::iter::from_fn(move || Some((children.next()?, children.next()?)))
    }

    /// Returns the decoded text of a string.
    pub(super) fn string(&self, at: usize) -> Cow<'_, str> {
        let text = self.text(at);
        unescape(&text[1..text.len() - 1])
    }

    /// Returns the path of a node, such as `a.b[0]`, for errors and changes.
    pub(super) fn path(&self, node: usize) -> String {
        let mut path = String::new();
        let mut at = 0;
        while at != node {
            let mut key = None;
            let object = self.kind(at) == Kind::Object;
            let Some((n, child)) = self.children(at).enumerate().find(|&(n, child)| {
                if object && n % 2 == 0 {
                    key = Some(child);
                }
                node < self.next(child)
            }) else {
                break;
            };
            match key {
                Some(key) => push_key(&mut path, &self.string(key)),
                None => _ = write!(path, "[{n}]"),
            }
            // A key stands for its member.
            if key == Some(child) {
                break;
            }
            at = child;
        }
        path
    }

    /// Looks in the node `at`, and in all nodes within it, for an object that has two equal keys with different values.
    /// Returns the index of the second key; `None` if there is no such object.
    pub(super) fn contradiction(&self, at: usize) -> Option<usize> {
        let mut members: Vec<(&str, usize)> = Vec::new();
        (at..self.next(at))
            .filter(|&node| self.kind(node) == Kind::Object)
            .find_map(|object| {
                members.clear();
                members.extend(
                    self.members(object)
                        .map(|(key, value)| (self.text(key), value)),
                );
                // A few members are compared each with each; many are sorted first.
                if members.len() > 8 {
                    members.sort_unstable();
                    let pairs = members
                        .windows(2)
                        .find(|pair| pair[0].0 == pair[1].0 && !self.same(pair[0].1, pair[1].1));
                    return pairs.map(|pair| pair[1].1 - 1);
                }
                members.iter().enumerate().find_map(|(n, one)| {
                    members[..n]
                        .iter()
                        .find(|two| one.0 == two.0 && !self.same(one.1, two.1))
                        .map(|_| one.1 - 1)
                })
            })
    }

    /// Returns true if two nodes, given by their indexes, have the same kinds, structure and spelling. White space
    /// between values does not matter.
    pub(super) fn same(&self, one: usize, two: usize) -> bool {
        let (one_end, two_end) = (self.next(one), self.next(two));
        one_end - one == two_end - two
            && (one..one_end).zip(two..two_end).all(|(one, two)| {
                self.kind(one) == self.kind(two)
                    && (matches!(self.kind(one), Kind::Array | Kind::Set | Kind::Object)
                        || self.text(one) == self.text(two))
            })
    }

    /// Returns the value of a node for an error message, cut to 40 characters. An object, a list and a missing value
    /// are only named.
    pub(super) fn excerpt(&self, at: usize) -> String {
        const LONG: usize = 40;
        let text = match self.kind(at) {
            Kind::Missing => return "nothing".into(),
            Kind::Object => return "an object".into(),
            Kind::Array | Kind::Set => return "a list".into(),
            _ => self.text(at),
        };
        match text.char_indices().nth(LONG) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text.into(),
        }
    }
}

pub(super) struct Children<'a> {
    nodes: &'a [Node],
    at: usize,
    end: usize,
}

impl Iterator for Children<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        (self.at < self.end).then(|| {
            let at = self.at;
            self.at = self.nodes[at].next as usize;
            at
        })
    }
}

/// Appends a member's name to a path, shortened to 60 characters.
pub(super) fn push_key(path: &mut String, key: &str) {
    if !path.is_empty() {
        path.push('.');
    }
    // A key that is a whole text is shortened to its beginning.
    match key.char_indices().nth(60) {
        Some((end, _)) => _ = write!(path, "{}…", &key[..end]),
        None => path.push_str(key),
    }
}

/// Decodes the escapes in a JSON string, which is given without its quotes.
pub(super) fn unescape(inside: &str) -> Cow<'_, str> {
    let Some(first) = inside.find('\\') else {
        return inside.into();
    };
    let mut out = String::with_capacity(inside.len());
    out.push_str(&inside[..first]);
    let mut rest = &inside[first..];
    while let Some(escape) = rest.strip_prefix('\\') {
        let used = match escape.chars().next() {
            Some('u') => {
                let (c, used) = code_point(escape);
                out.push(c);
                used
            }
            Some(c) => {
                out.push(match c {
                    'b' => '\u{8}',
                    'f' => '\u{c}',
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    other => other,
                });
                c.len_utf8()
            }
            None => 0,
        };
        rest = &escape[used..];
        let plain = rest.find('\\').unwrap_or(rest.len());
        out.push_str(&rest[..plain]);
        rest = &rest[plain..];
    }
    out.into()
}

/// Returns the character of `uXXXX`, or of two such escapes that make one, and the number of bytes read.
fn code_point(escape: &str) -> (char, usize) {
    let unit = |text: Option<&str>| text.and_then(|hex| u32::from_str_radix(hex, 16).ok());
    let Some(high) = unit(escape.get(1..5)) else {
        return (char::REPLACEMENT_CHARACTER, 1);
    };
    if let 0xD800..0xDC00 = high
        && escape.get(5..7) == Some("\\u")
        && let Some(low @ 0xDC00..0xE000) = unit(escape.get(7..11))
    {
        let c = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
        return (char::from_u32(c).unwrap_or(char::REPLACEMENT_CHARACTER), 11);
    }
    (
        char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER),
        5,
    )
}

/// Appends text to the inside of a JSON string, with the escapes that JSON needs.
pub(super) fn escape_into(out: &mut String, text: &str) {
    let mut from = 0;
    for (at, b) in text.bytes().enumerate() {
        let short = match b {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0..0x20 => "",
            _ => continue,
        };
        out.push_str(&text[from..at]);
        from = at + 1;
        match short {
            "" => _ = write!(out, "\\u{b:04x}"),
            short => out.push_str(short),
        }
    }
    out.push_str(&text[from..]);
}

/// Appends text to `out` as a JSON string, with quotes and escapes.
pub(super) fn quote_into(out: &mut String, text: &str) {
    out.push('"');
    escape_into(out, text);
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_survive_the_round_trip() {
        for text in ["", "plain", "a\"b\\c\n\t\u{1}", "Grüße 🌍", "\\"] {
            let mut quoted = String::new();
            quote_into(&mut quoted, text);
            assert_eq!(serde_json::from_str::<String>(&quoted).unwrap(), text);
            assert_eq!(unescape(&quoted[1..quoted.len() - 1]), text);
        }
        assert_eq!(unescape(r"\ud83c\udf0d\u0041\/"), "🌍A/");
    }
}
