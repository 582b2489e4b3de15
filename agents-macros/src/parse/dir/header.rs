//! The header of a `SKILL.md`: the part of YAML that such headers are written in.
//!
//! ```text
//! ---
//! name: pdf-forms
//! description: Fills forms in PDF files.
//! ---
//! ```

use crate::{
    ast::{Field, Header},
    messages,
};

/// Reads the header; also returns the text below it. `None` if no header can be made out.
pub(super) fn read<'t>(
    text: &'t str,
    place: &str,
    say: &mut impl FnMut(String),
) -> Option<(Header, &'t str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    let is_mark = |line: &str| line.trim_end() == "---";
    if !lines.next().is_some_and(is_mark) {
        say(messages::no_header(place));
        return None;
    }
    let mut written: Vec<Written<'t>> = Vec::new();
    let mut end = None;
    let mut read = text.len() - lines.clone().map(str::len).sum::<usize>();
    for (number, whole) in (2..).zip(lines) {
        read += whole.len();
        let line = whole.trim_end();
        if is_mark(whole) {
            end = Some(read);
            break;
        }
        let is_below = line.is_empty() || line.starts_with([' ', '\t', '-']);
        match (written.last_mut(), line.split_once(':')) {
            (_, _) if line.trim_start_matches(' ').starts_with('\t') => {
                say(messages::tab_in_header(place, number));
            }
            (Some(last), _) if is_below => last.below.push(line),
            (None, _) if line.is_empty() => {}
            (_, _) if line.starts_with('#') => {}
            (_, Some((key, value)))
                if !is_below && (value.is_empty() || value.starts_with(' ')) =>
            {
                written.push(Written {
                    key: key.trim_end(),
                    line: number,
                    value: value.trim(),
                    below: Vec::new(),
                });
            }
            _ => say(messages::no_pair(place, number, line.trim())),
        }
    }
    let Some(end) = end else {
        say(messages::header_without_end(place));
        return None;
    };
    let mut fields: Vec<Field> = Vec::new();
    for one in written.iter().filter(|one| Header::KEYS.contains(&one.key)) {
        let Written { key, line, .. } = *one;
        if fields.iter().any(|field| field.key == key) {
            say(messages::field_twice(place, line, key));
            continue;
        }
        let value = one
            .value()
            .map_err(|message| say(message(place, line, key)));
        fields.push(Field {
            key: key.to_owned(),
            value: value.ok(),
            line,
        });
    }
    Some((Header { fields }, &text[end..]))
}

/// A key with its value as it is written.
struct Written<'t> {
    key: &'t str,
    line: usize,
    value: &'t str,
    /// The lines below the key that belong to its value.
    below: Vec<&'t str>,
}

/// The message about a value: of a place, a line and a key.
type Message = fn(&str, usize, &str) -> String;

impl Written<'_> {
    fn value(&self) -> Result<String, Message> {
        let value = self.value;
        match value.chars().next() {
            Some(style @ ('|' | '>')) => Ok(self.block(style == '>')),
            Some(quote @ ('"' | '\'')) => quoted(&self.joined()[1..], quote),
            Some(sign) if "[]{}&*!%@`,?".contains(sign) => Err(messages::wants_quotes),
            _ => plain(&self.joined()),
        }
    }

    /// Returns the value in one line: a line break in a value is a space.
    fn joined(&self) -> String {
        let mut joined = self.value.to_owned();
        for line in self.below.iter().map(|line| line.trim()) {
            if !joined.is_empty() && !line.is_empty() {
                joined.push(' ');
            }
            joined.push_str(line);
        }
        joined
    }

    /// Returns a block below `|` or `>`. In a folded block (`>`), a line break is a space, and an empty line a line
    /// break.
    fn block(&self, folded: bool) -> String {
        let depth = |line: &&str| line.len() - line.trim_start().len();
        let full = self.below.iter().filter(|line| !line.is_empty());
        let depth = full.map(depth).min().unwrap_or(0);
        let lines = self
            .below
            .iter()
            .map(|line| line.get(depth..).unwrap_or_default());
        let mut text = String::new();
        for line in lines {
            let gap = match (
                folded,
                line.is_empty() || text.is_empty() || text.ends_with('\n'),
            ) {
                (true, false) => " ",
                (true, true) if line.is_empty() => "\n",
                (true, true) => "",
                (false, _) if text.is_empty() => "",
                (false, _) => "\n",
            };
            text.push_str(gap);
            text.push_str(line);
        }
        text.trim().to_owned()
    }
}

/// Reads a value without quotes, up to a comment.
fn plain(value: &str) -> Result<String, Message> {
    let value = value.split(" #").next().unwrap_or_default().trim();
    if value.contains(": ") || value.ends_with(':') {
        return Err(messages::wants_quotes);
    }
    Ok(match value {
        "~" | "null" => String::new(),
        _ => value.to_owned(),
    })
}

/// Reads what follows the first quote.
fn quoted(rest: &str, quote: char) -> Result<String, Message> {
    let mut value = String::new();
    let mut signs = rest.chars().peekable();
    while let Some(sign) = signs.next() {
        match (quote, sign) {
            ('"', '\\') => value.push(match signs.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some(same @ ('"' | '\\' | '/')) => same,
                _ => return Err(messages::unknown_escape),
            }),
            ('\'', '\'') if signs.peek() == Some(&'\'') => {
                signs.next();
                value.push('\'');
            }
            (_, sign) if sign == quote => {
                let left: String = signs.collect();
                return match left.trim().is_empty() || left.trim_start().starts_with('#') {
                    true => Ok(value),
                    false => Err(messages::quotes_without_end),
                };
            }
            (_, sign) => value.push(sign),
        }
    }
    Err(messages::quotes_without_end)
}
