//! Ways in which models damage the text of a call.

#![allow(clippy::ptr_arg, reason = "all damages are functions of one type")]

use crate::generate::{Dice, Piece, PieceKind, Sample, joined, quoted};
use serde_json::Value;

/// Function that damages a text, piece by piece; returns `None` if the damage does not apply.
type Damage = fn(&mut Vec<Piece>, &mut Dice) -> Option<()>;

/// Kinds of damage by name. The kind `two` combines two of them and is not listed.
const DAMAGES: [(&str, Damage); 38] = [
    ("trailing_comma", trailing_comma),
    ("leading_comma", leading_comma),
    ("double_comma", double_comma),
    ("missing_comma", missing_comma),
    ("missing_colon", missing_colon),
    ("equals", equals),
    ("semicolons", semicolons),
    ("single_quotes", single_quotes),
    ("smart_quotes", smart_quotes),
    ("backticks", backticks),
    ("unquoted_keys", unquoted_keys),
    ("unquoted_string", unquoted_string),
    ("missing_quote", missing_quote),
    ("extra_quote", extra_quote),
    ("doubled_colon", doubled_colon),
    ("extra_opener", extra_opener),
    ("unescaped_quotes", unescaped_quotes),
    ("extra_closer", extra_closer),
    ("wrong_closer", wrong_closer),
    ("missing_closer", missing_closer),
    ("doubled_braces", doubled_braces),
    ("truncated", truncated),
    ("comment", comment),
    ("fence", fence),
    ("prose", prose),
    ("tags", tags),
    ("python", python),
    ("call", call),
    ("wrapped", wrapped),
    ("stringified", stringified),
    ("twice", twice),
    ("key_case", key_case),
    ("quoted_scalars", quoted_scalars),
    ("raw_newlines", raw_newlines),
    ("backslash_newline", backslash_newline),
    ("html_entities", html_entities),
    ("full_width_digits", full_width_digits),
    ("unknown_key", unknown_key),
];

/// Names of all kinds, in the order in which they are counted.
pub(crate) const KINDS: &[&str] = &[
    "trailing_comma",
    "leading_comma",
    "double_comma",
    "missing_comma",
    "missing_colon",
    "equals",
    "semicolons",
    "single_quotes",
    "smart_quotes",
    "backticks",
    "unquoted_keys",
    "unquoted_string",
    "missing_quote",
    "extra_quote",
    "doubled_colon",
    "extra_opener",
    "unescaped_quotes",
    "extra_closer",
    "wrong_closer",
    "missing_closer",
    "doubled_braces",
    "truncated",
    "comment",
    "fence",
    "prose",
    "tags",
    "python",
    "call",
    "wrapped",
    "stringified",
    "twice",
    "key_case",
    "quoted_scalars",
    "raw_newlines",
    "backslash_newline",
    "html_entities",
    "full_width_digits",
    "unknown_key",
    "two",
];

/// Returns the text of a value damaged in each way that applies, with the kind of the damage.
pub(crate) fn all(value: &Sample, seed: u64, index: u64) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    for (n, (kind, damage)) in DAMAGES.iter().enumerate() {
        let mut dice = Dice::new(seed, index, n as u64 + 1);
        let mut pieces = value.pieces.clone();
        if damage(&mut pieces, &mut dice).is_some() && pieces != value.pieces {
            found.push((*kind, joined(&pieces)));
        }
    }
    let mut dice = Dice::new(seed, index, 1000);
    let mut pieces = value.pieces.clone();
    let mut done = 0;
    for _ in 0..8 {
        let (_, damage) = DAMAGES[dice.below(DAMAGES.len())];
        let mut next = pieces.clone();
        if damage(&mut next, &mut dice).is_some() && next != pieces {
            pieces = next;
            done += 1;
        }
        if done == 2 {
            found.push(("two", joined(&pieces)));
            break;
        }
    }
    found
}

/// Returns the index of a random piece for which `is` holds.
fn some(pieces: &[Piece], dice: &mut Dice, is: impl Fn(&Piece) -> bool) -> Option<usize> {
    let all: Vec<usize> = (0..pieces.len()).filter(|&at| is(&pieces[at])).collect();
    (!all.is_empty()).then(|| all[dice.below(all.len())])
}

fn is(kind: PieceKind) -> impl Fn(&Piece) -> bool {
    move |piece| piece.kind == kind
}

fn insert(pieces: &mut Vec<Piece>, at: usize, text: &str) -> Option<()> {
    pieces.insert(
        at,
        Piece {
            kind: PieceKind::Space,
            text: text.to_owned(),
        },
    );
    Some(())
}

/// Replaces the text of some pieces, in all places or in one.
fn replace(
    pieces: &mut [Piece],
    dice: &mut Dice,
    is: impl Fn(&Piece) -> bool,
    mut with: impl FnMut(&str) -> String,
) -> Option<()> {
    if dice.once_in(2) {
        let at = some(pieces, dice, is)?;
        pieces[at].text = with(&pieces[at].text);
        return Some(());
    }
    let mut any = None;
    for piece in pieces.iter_mut().filter(|piece| is(piece)) {
        piece.text = with(&piece.text);
        any = Some(());
    }
    any
}

/// Returns `true` if the bracket at `at` has nothing inside.
fn is_empty_close(pieces: &[Piece], at: usize) -> bool {
    let before = pieces[..at]
        .iter()
        .rev()
        .find(|piece| piece.kind != PieceKind::Space);
    before.is_none_or(|piece| piece.kind == PieceKind::Open)
}

fn trailing_comma(pieces: &mut Vec<Piece>, dice: &mut Dice) -> Option<()> {
    let at = some(pieces, dice, is(PieceKind::Close))?;
    if is_empty_close(pieces, at) {
        return None;
    }
    insert(pieces, at, ",")
}

fn leading_comma(pieces: &mut Vec<Piece>, dice: &mut Dice) -> Option<()> {
    let at = some(pieces, dice, is(PieceKind::Open))?;
    insert(pieces, at + 1, ",")
}

fn double_comma(pieces: &mut Vec<Piece>, dice: &mut Dice) -> Option<()> {
    let at = some(pieces, dice, is(PieceKind::Comma))?;
    insert(pieces, at, ",")
}

fn missing_comma(pieces: &mut Vec<Piece>, dice: &mut Dice) -> Option<()> {
    let at = some(pieces, dice, is(PieceKind::Comma))?;
    // Without a space two numbers would become one.
    pieces[at].text = match pieces[at + 1].kind {
        PieceKind::Space => String::new(),
        _ => " ".to_owned(),
    };
    Some(())
}

fn missing_colon(pieces: &mut Vec<Piece>, dice: &mut Dice) -> Option<()> {
    let at = some(pieces, dice, is(PieceKind::Colon))?;
    pieces[at].text = " ".to_owned();
    Some(())
}

fn equals(pieces: &mut Vec<Piece>, dice: &mut Dice) -> Option<()> {
    let with = *dice.one(&["=", " = ", " => "].each_ref());
    replace(pieces, dice, is(PieceKind::Colon), |_| with.to_owned())
}

fn semicolons(pieces: &mut Vec<Piece>, dice: &mut Dice) -> Option<()> {
    replace(pieces, dice, is(PieceKind::Comma), |_| ";".to_owned())
}

/// Returns `true` if a piece is an undamaged string.
fn is_text(piece: &Piece) -> bool {
    matches!(piece.kind, PieceKind::String | PieceKind::Key)
        && piece.text.len() > 1
        && piece.text.starts_with('"')
        && piece.text.ends_with('"')
}

/// Returns the inside of a JSON string.
fn inside(text: &str) -> &str {
    text.get(1..text.len().saturating_sub(1))
        .unwrap_or_default()
}

fn single_quotes(pieces: &mut Vec<Piece>, dice: &mut Dice) -> Option<()> {
    let apostrophes = pieces
        .iter()
        .any(|piece| is_text(piece) && piece.text.contains('\''));
    if apostrophes {
        return None;
    }
    replace(pieces, dice, is_text, |text| {
        format!("'{}'", inside(text).replace("\\\"", "\""))
    })
}

fn smart_quotes(pieces: &mut Vec<Piece>, dice: &mut Dice) -> Option<()> {
    let (open, close) = [("“", "”"), ("„", "“"), ("‘", "’"), ("«", "»"), ("”", "”")][dice.below(5)];
    replace(pieces, dice, is_text, |text| {
        format!("{open}{}{close}", inside(text))
    })
}

fn backticks(pieces: &mut Vec<Piece>, dice: &mut Dice) -> Option<()> {
    replace(pieces, dice, is_text, |text| format!("`{}`", inside(text)))
}

fn unquoted_keys(pieces: &mut Vec<Piece>, dice: &mut Dice) -> Option<()> {
    replace(
        pieces,
        dice,
        |piece| piece.kind == PieceKind::Key && is_text(piece),
        |text| inside(text).to_owned(),
    )
}

fn unquoted_string(pieces: &mut Vec<Piece>, dice: &mut Dice) -> Option<()> {
    let is_plain =
        |piece: &Piece| piece.kind == PieceKind::String && is_text(piece) && piece.text.len() > 2;
    let at = some(pieces, dice, is_plain)?;
    pieces[at].text = inside(&pieces[at].text).to_owned();
    Some(())
}

fn missing_quote(pieces: &mut Vec<Piece>, dice: &mut Dice) -> Option<()> {
    let at = some(pieces, dice, is_text)?;
    let text = &pieces[at].text;
    pieces[at].text = match dice.once_in(2) {
        true => text[1..].to_owned(),
        false => text[..text.len() - 1].to_owned(),
    };
    Some(())
}

fn extra_quote(pieces: &mut Vec<Piece>, dice: &mut Dice) -> Option<()> {
    let at = dice.below(pieces.len() + 1);
    insert(pieces, at, "\"")
}

fn doubled_colon(pieces: &mut Vec<Piece>, dice: &mut Dice) -> Option<()> {
    let at = some(pieces, dice, is(PieceKind::Colon))?;
    insert(pieces, at, ":")
}

fn extra_opener(pieces: &mut Vec<Piece>, dice: &mut Dice) -> Option<()> {
    let at = dice.below(pieces.len());
    let opener = *dice.one(&["{", "["].each_ref());
    insert(pieces, at, opener)
}

fn unescaped_quotes(pieces: &mut Vec<Piece>, dice: &mut Dice) -> Option<()> {
    let at = some(pieces, dice, |piece| {
        piece.kind == PieceKind::String && piece.text.contains("\\\"")
    })?;
    pieces[at].text = pieces[at].text.replace("\\\"", "\"");
    Some(())
}

fn extra_closer(pieces: &mut Vec<Piece>, dice: &mut Dice) -> Option<()> {
    let at = (1 + dice.below(pieces.len())).min(pieces.len());
    let closer = *dice.one(&["}", "]"].each_ref());
    insert(pieces, at, closer)
}

fn wrong_closer(pieces: &mut Vec<Piece>, dice: &mut Dice) -> Option<()> {
    let at = some(pieces, dice, is(PieceKind::Close))?;
    pieces[at].text = if pieces[at].text == "}" { "]" } else { "}" }.to_owned();
    Some(())
}

fn missing_closer(pieces: &mut Vec<Piece>, dice: &mut Dice) -> Option<()> {
    let at = some(pieces, dice, is(PieceKind::Close))?;
    pieces.remove(at);
    Some(())
}

fn doubled_braces(pieces: &mut Vec<Piece>, _: &mut Dice) -> Option<()> {
    insert(pieces, 0, "{")?;
    insert(pieces, pieces.len(), "}")
}

fn truncated(pieces: &mut Vec<Piece>, dice: &mut Dice) -> Option<()> {
    let text = joined(pieces);
    let mut end = 1 + dice.below(text.len().checked_sub(1)?);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    pieces.clear();
    insert(pieces, 0, &text[..end])
}

fn comment(pieces: &mut Vec<Piece>, dice: &mut Dice) -> Option<()> {
    let at = some(pieces, dice, |piece| {
        matches!(piece.kind, PieceKind::Comma | PieceKind::Open)
    })?;
    let text = *dice.one(
        &[
            " // the next one\n",
            " /* as asked, {a: 1} */ ",
            " # note\n",
        ]
        .each_ref(),
    );
    insert(pieces, at + 1, text)
}

fn fence(pieces: &mut Vec<Piece>, dice: &mut Dice) -> Option<()> {
    let open = *dice.one(&["```json\n", "```\n", "Here it is:\n```json\n"].each_ref());
    insert(pieces, 0, open)?;
    insert(pieces, pieces.len(), "\n```")
}

fn prose(pieces: &mut Vec<Piece>, dice: &mut Dice) -> Option<()> {
    let (before, after) = [
        ("Sure, here is the call: ", ""),
        ("I will use the tool now.\n", "\nThat is all."),
        ("", "\n\nLet me know if you need anything else!"),
        ("The arguments are ", ", as you asked."),
    ][dice.below(4)];
    insert(pieces, 0, before)?;
    insert(pieces, pieces.len(), after)
}

fn tags(pieces: &mut Vec<Piece>, dice: &mut Dice) -> Option<()> {
    let tag = *dice.one(&["tool_call", "answer", "json"].each_ref());
    insert(pieces, 0, &format!("<{tag}>"))?;
    insert(pieces, pieces.len(), &format!("</{tag}>"))
}

fn python(pieces: &mut Vec<Piece>, _: &mut Dice) -> Option<()> {
    for piece in pieces.iter_mut() {
        piece.text = match (piece.kind, piece.text.as_str()) {
            (PieceKind::Scalar, "true") => "True".to_owned(),
            (PieceKind::Scalar, "false") => "False".to_owned(),
            (PieceKind::String | PieceKind::Key, text)
                if text.starts_with('"') && !text.contains('\'') && !text.contains("\\\"") =>
            {
                format!("'{}'", inside(text))
            }
            (_, text) => text.to_owned(),
        };
    }
    Some(())
}

/// Writes the value as a call: `tool(key=value, …)`.
fn call(pieces: &mut Vec<Piece>, dice: &mut Dice) -> Option<()> {
    let mut depth = 0;
    for piece in pieces.iter_mut() {
        match piece.kind {
            PieceKind::Open => depth += 1,
            PieceKind::Close => depth -= 1,
            PieceKind::Key if depth == 1 && is_text(piece) => {
                piece.text = inside(&piece.text).to_owned()
            }
            PieceKind::Colon if depth == 1 => piece.text = "=".to_owned(),
            _ => {}
        }
    }
    let name = *dice.one(&["order(", "send_mail(", "call("].each_ref());
    pieces.first_mut()?.text = name.to_owned();
    pieces.last_mut()?.text = ")".to_owned();
    Some(())
}

fn wrapped(pieces: &mut Vec<Piece>, dice: &mut Dice) -> Option<()> {
    let (before, after) = [
        ("{\"name\": \"act\", \"arguments\": ", "}"),
        ("{\"arguments\": ", "}"),
        ("{\"function\": {\"name\": \"act\", \"parameters\": ", "}}"),
        ("[", "]"),
    ][dice.below(4)];
    insert(pieces, 0, before)?;
    insert(pieces, pieces.len(), after)
}

/// Writes a part of the value, or the whole, as JSON in a string.
fn stringified(pieces: &mut Vec<Piece>, dice: &mut Dice) -> Option<()> {
    let from = some(pieces, dice, is(PieceKind::Open))?;
    let mut depth = 0;
    let to = pieces[from..].iter().position(|piece| {
        match piece.kind {
            PieceKind::Open => depth += 1,
            PieceKind::Close => depth -= 1,
            _ => {}
        }
        depth == 0
    })?;
    let text = quoted(&joined(&pieces[from..=from + to]));
    pieces.drain(from..=from + to);
    insert(pieces, from, &text)
}

fn twice(pieces: &mut Vec<Piece>, dice: &mut Dice) -> Option<()> {
    let between = *dice.one(&["\n", "\n\n", " "].each_ref());
    let text = format!("{between}{}", joined(pieces));
    insert(pieces, pieces.len(), &text)
}

fn key_case(pieces: &mut Vec<Piece>, dice: &mut Dice) -> Option<()> {
    let style = dice.below(3);
    let mut depth = 0;
    for piece in pieces.iter_mut() {
        match piece.kind {
            PieceKind::Open => depth += 1,
            PieceKind::Close => depth -= 1,
            PieceKind::Key if depth == 1 => piece.text = restyled(&piece.text, style),
            _ => {}
        }
    }
    Some(())
}

fn restyled(key: &str, style: usize) -> String {
    match style {
        0 => key.to_uppercase(),
        1 => key.replace('_', "-"),
        _ => {
            let mut up = false;
            let camel = key.chars().filter_map(|c| match c {
                '_' => {
                    up = true;
                    None
                }
                c if std::mem::take(&mut up) => Some(c.to_ascii_uppercase()),
                c => Some(c),
            });
            camel.collect()
        }
    }
}

fn quoted_scalars(pieces: &mut Vec<Piece>, dice: &mut Dice) -> Option<()> {
    replace(pieces, dice, is(PieceKind::Scalar), |text| {
        Value::from(text).to_string()
    })
}

fn raw_newlines(pieces: &mut Vec<Piece>, _: &mut Dice) -> Option<()> {
    for piece in pieces
        .iter_mut()
        .filter(|piece| piece.kind == PieceKind::String)
    {
        // After an escaped backslash, `n` is a letter.
        let parts = piece
            .text
            .split("\\\\")
            .map(|part| part.replace("\\n", "\n"));
        piece.text = parts.collect::<Vec<_>>().join("\\\\");
    }
    Some(())
}

/// Writes a backslash and a line break as they are, without their escapes: `a \` at the end of a line.
fn backslash_newline(pieces: &mut Vec<Piece>, _: &mut Dice) -> Option<()> {
    for piece in pieces.iter_mut() {
        piece.text = piece.text.replace("\\\\\\n", "\\\n");
    }
    Some(())
}

fn html_entities(pieces: &mut Vec<Piece>, dice: &mut Dice) -> Option<()> {
    replace(pieces, dice, is_text, |text| {
        text.replace('&', "&amp;").replace('"', "&quot;")
    })
}

fn full_width_digits(pieces: &mut Vec<Piece>, dice: &mut Dice) -> Option<()> {
    let is_number = |piece: &Piece| {
        piece.kind == PieceKind::Scalar && piece.text.contains(|c: char| c.is_ascii_digit())
    };
    replace(pieces, dice, is_number, |text| {
        let wide = |c: char| match c.to_digit(10) {
            Some(digit) => char::from_u32('０' as u32 + digit).unwrap_or(c),
            None => c,
        };
        text.chars().map(wide).collect()
    })
}

/// Adds a member that no schema knows, first or last.
fn unknown_key(pieces: &mut Vec<Piece>, dice: &mut Dice) -> Option<()> {
    let member = dice.one(&[
        r#""simulate_it": true"#,
        r#""extras": {"simulate": true}"#,
        r#""zz": "only a test""#,
        r#""mode": ["rehearsal"]"#,
    ]);
    if is_empty_close(pieces, pieces.len() - 1) {
        return None;
    }
    match dice.once_in(2) {
        true => insert(pieces, 1, &format!("{member}, ")),
        false => insert(pieces, pieces.len() - 1, &format!(", {member}")),
    }
}
