//! Printing of a tape as JSON.

use super::{
    change::ChangeKind,
    error::{ReadError, ReadErrorKind},
    log::Log,
    scalar::{Guess, guess, has_other_quotes},
    tape::{Kind, Tape, quote_into},
    wording,
};

/// Writes the value of the node `at` as JSON, without a schema. Text without quotes becomes a literal, a number or a
/// string by its looks.
pub(super) fn print(
    tape: &Tape<'_>,
    at: usize,
    out: &mut String,
    log: &mut Log,
) -> Result<(), ReadError> {
    if tape.intact {
        out.push_str(tape.text(at));
        return Ok(());
    }
    // The end of each open bracket, true for an object, and the number of nodes in it so far. Keys and values
    // alternate.
    let mut open: Vec<(usize, bool, usize)> = Vec::new();
    let end = tape.next(at);
    let mut node = at;
    loop {
        while let Some(&(_, object, _)) = open.last().filter(|&&(end, ..)| end == node) {
            out.push(if object { '}' } else { ']' });
            open.pop();
        }
        if node == end {
            return Ok(());
        }
        if let Some((_, object, count)) = open.last_mut() {
            if *object && *count % 2 == 1 {
                out.push(':');
            } else if *count > 0 {
                out.push(',');
            }
            *count += 1;
        }
        match tape.kind(node) {
            kind @ (Kind::Object | Kind::Array) => {
                let object = kind == Kind::Object;
                out.push(if object { '{' } else { '[' });
                open.push((tape.next(node), object, 0));
            }
            Kind::Number | Kind::String => out.push_str(tape.text(node)),
            kind @ (Kind::Null | Kind::True | Kind::False) => out.push_str(word(kind)),
            Kind::Bare => bare(tape, node, out, log)?,
            Kind::Set => {
                return Err(
                    ReadError::of(ReadErrorKind::Ambiguous, wording::SET).below(tape.path(node))
                );
            }
            Kind::Missing => {
                return Err(
                    ReadError::of(ReadErrorKind::Ambiguous, wording::KEY_WITHOUT_VALUE)
                        .below(tape.path(node)),
                );
            }
        }
        node += 1;
    }
}

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::True => "true",
        Kind::False => "false",
        _ => "null",
    }
}

fn bare(tape: &Tape<'_>, node: usize, out: &mut String, log: &mut Log) -> Result<(), ReadError> {
    let text = tape.text(node);
    let cut_off = tape.nodes[node].end as usize == tape.source.trim_end().len();
    match guess(text, cut_off) {
        Guess::Literal(kind) => {
            log.add(ChangeKind::Literal, || tape.path(node), wording::LITERAL);
            out.push_str(word(kind));
        }
        Guess::Number(number) => {
            log.add(
                ChangeKind::NumberFormat,
                || tape.path(node),
                wording::NUMBER_AS_JSON,
            );
            out.push_str(&number);
        }
        Guess::Text => {
            let (kind, note) = (ChangeKind::Unquoted, wording::QUOTES_ADDED);
            match has_other_quotes(text) {
                true => log.add_uncertain(kind, || tape.path(node), note),
                false => log.add(kind, || tape.path(node), note),
            }
            quote_into(out, text);
        }
        Guess::Unclear => {
            let reason = wording::number_or_text(&tape.excerpt(node));
            return Err(ReadError::of(ReadErrorKind::Ambiguous, reason).below(tape.path(node)));
        }
    }
    Ok(())
}
