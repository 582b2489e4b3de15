//! Search for the JSON in a text: in fences, tags, calls and prose, but not in a model's thinking.
//!
//! Up to 40 places where a value may start are read. The schema judges each result, and the result whose changes cost
//! least wins. Among values of equal cost, one in running text loses to the others, and then the first value wins. Two
//! different values of equal standing right beside each other make the text ambiguous.

mod choice;

use super::{
    byte_search::skip_space,
    change::ChangeKind,
    coerce::{Coercer, work},
    error::{ReadError, ReadErrorKind, too_deep},
    fit::fit,
    log::Log,
    repair::{self, Failure, Start},
    schema::{Schema, Types},
    strict::{self, Stop},
    surroundings::{Place, goes_on, has_member, may_belong, place, thinking},
    tape::{Kind, Node, Tape, unescape},
    wording,
};

/// Value found in a text that has more than the value: JSON that was made, or the part of the text that is valid JSON.
pub(super) struct Found {
    pub(super) json: Json,
    pub(super) log: Log,
    cost: u32,
    kind: Kind,
    slight: bool,
    thinking: bool,
    start: usize,
    end: usize,
    place: Place,
}

pub(super) enum Json {
    /// The part of the text between two offsets is valid JSON and stays as it stands.
    Part(usize, usize),
    Made(String),
}

/// Maximum number of places in the text at which a value is tried.
const MAX_CANDIDATES: usize = 40;

/// Number of bytes that all failed attempts to read a value may read in sum, beyond the length of the text.
const SPARE: usize = 20_000;

/// Finds the JSON value that a text with other text around it means, led by the schema if there is one. `tried` is the
/// byte at which a value begins that strict reading has already refused; no byte if it is `usize::MAX`.
pub(super) fn locate(raw: &str, schema: Option<&Schema>, tried: usize) -> Result<Found, ReadError> {
    let mut search = Search {
        raw,
        schema,
        allowance: work(raw.len()),
        tried,
        found: Vec::new(),
        refusal: None,
        refused: 0,
        attempts: 0,
        broken: false,
        spare: raw.len() + SPARE,
        thoughts: Vec::new(),
    };
    let skipped = search.scan(0, raw.len(), false)?;
    search.thoughts.clone_from(&skipped);
    if search.found.iter().all(|found| found.thinking) {
        // No value was found outside of thinking.
        for (start, end) in skipped {
            let before = search.found.len();
            search.scan(start, end, true)?;
            for found in search.found.split_off(before) {
                if found.end <= end {
                    let is_before = |other: &Found| other.start <= found.start;
                    let place = search.found.partition_point(is_before);
                    search.found.insert(place, found);
                }
            }
        }
    }
    if search.found.is_empty() {
        search.without_brackets()?;
    }
    search.choose()
}

/// Reads a text that should be one JSON value without prose around it, strictly or with repairs; `None` if the text is
/// anything else.
pub(super) fn complete_value<'t>(text: &'t str, allowance: &mut usize) -> Option<(Tape<'t>, Log)> {
    let bytes = text.as_bytes();
    let mut tape = Tape::new(text);
    let start = skip_space(bytes, 0);
    match strict::scan(bytes, start, &mut tape.nodes) {
        Ok(end) if skip_space(bytes, end) == bytes.len() => {
            tape.intact = true;
            return Some((tape, Log::default()));
        }
        _ if matches!(bytes.get(start), Some(b'{' | b'[')) => {}
        _ => return None,
    }
    let mut repaired = repair::repair(text, start, Start::Value, allowance).ok()?;
    let end = repaired.end;
    if may_belong(&text[..end], &text[end..], "") {
        repaired
            .log
            .add_uncertain(ChangeKind::Located, String::new, wording::LOST);
    }
    place(text, start, end)
        .trivial()
        .then_some((repaired.tape, repaired.log))
}

/// Returns the text of a line of a Markdown list without its mark; `None` if the line has no mark.
fn item(line: &str) -> Option<&str> {
    let line = line.trim();
    let marked = ["- ", "* ", "• "]
        .iter()
        .find_map(|mark| line.strip_prefix(mark));
    let numbered = || {
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let text = rest
            .strip_prefix(". ")
            .or_else(|| rest.strip_prefix(") "))?;
        (rest.len() < line.len()).then_some(text)
    };
    marked
        .or_else(numbered)
        .map(str::trim)
        .filter(|text| !text.is_empty())
}

struct Search<'a, 's> {
    raw: &'a str,
    schema: Option<&'s Schema>,
    allowance: usize,
    tried: usize,
    found: Vec<Found>,
    /// Error of the longest part of the text that could not be read. It is reported if no value is found.
    refusal: Option<ReadError>,
    refused: usize,
    attempts: usize,
    /// `true` if an object began that could not be read, so that later values may be pieces of it.
    broken: bool,
    /// Number of bytes that failed attempts to read a value may still read.
    spare: usize,
    /// Stretches of the model's thinking (from, to), which are not part of the answer.
    thoughts: Vec<(usize, usize)>,
}

impl<'a> Search<'a, '_> {
    /// Reads every value that begins in a stretch of text, and keeps those that fit. Returns the stretches of thinking
    /// that were skipped.
    fn scan(
        &mut self,
        from: usize,
        to: usize,
        in_thought: bool,
    ) -> Result<Vec<(usize, usize)>, ReadError> {
        let bytes = self.raw.as_bytes();
        let mut skipped = Vec::new();
        let mut at = from;
        while at < to && self.attempts < MAX_CANDIDATES && self.spare > 0 {
            match bytes[at] {
                b'{' | b'[' => at = self.candidate(at, Start::Value, in_thought)?,
                b'(' if self.called(at) => {
                    at = self.candidate(at + 1, Start::Arguments, in_thought)?
                }
                b'<' if !in_thought => match thinking(&self.raw[at..]) {
                    Some(None) => {
                        // All text before was thinking, although no tag opened it.
                        self.found
                            .iter_mut()
                            .for_each(|found| found.thinking = true);
                        at += 1;
                    }
                    Some(Some(length)) => {
                        skipped.push((at + 1, at + length));
                        at += length;
                    }
                    None => at += 1,
                },
                _ => at += 1,
            }
        }
        Ok(skipped)
    }

    /// Returns true if `name(key=` stands around the parenthesis at `paren`, which is probably a call. Only a schema
    /// can tell its arguments from prose, so the result is false without a schema.
    fn called(&self, paren: usize) -> bool {
        let bytes = self.raw.as_bytes();
        let word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
        let start = skip_space(bytes, paren + 1);
        let end = start + bytes[start..].iter().take_while(|&b| word(b)).count();
        let equals = skip_space(bytes, end);
        self.schema.is_some()
            && paren > 0
            && word(&bytes[paren - 1])
            && end > start
            && bytes.get(equals) == Some(&b'=')
            && bytes.get(equals + 1) != Some(&b'=')
    }

    /// Reads the value that begins at `start`, keeps it if it fits, and returns the place to go on from.
    fn candidate(
        &mut self,
        start: usize,
        how: Start,
        in_thought: bool,
    ) -> Result<usize, ReadError> {
        self.attempts += 1;
        #[cfg(test)]
        super::laws::step(64);
        let bytes = self.raw.as_bytes();
        if how == Start::Value && start != self.tried {
            let mut tape = Tape::new(self.raw);
            match strict::scan(bytes, start, &mut tape.nodes) {
                // The bracket may have been closed too early.
                Ok(end) if goes_on(&self.raw[end..]) => {}
                Ok(end) => {
                    tape.intact = true;
                    let fits = self.judge(&tape, Log::default(), start, end, in_thought);
                    return Ok(if fits {
                        end
                    } else {
                        self.next_inside(&tape, start, end)
                    });
                }
                Err(Stop::TooDeep(at)) => return Err(too_deep(at)),
                Err(Stop::Syntax(at)) => self.spare = self.spare.saturating_sub(at - start),
            }
        }
        match repair::repair(self.raw, start, how, &mut self.allowance) {
            Ok(repaired) => {
                let end = repaired.end;
                let fits = self.judge(&repaired.tape, repaired.log, start, end, in_thought);
                if fits {
                    return Ok(end.max(start + 1));
                }
                self.spare = self.spare.saturating_sub(end - start);
                // No value inside of an object that does not fit was meant as the whole value.
                let tape = &repaired.tape;
                let is_object = tape.kind(0) == Kind::Object && tape.nodes.len() > 2;
                Ok(if is_object {
                    end.max(start + 1)
                } else {
                    start + 1
                })
            }
            Err(Failure::Escaped) => {
                self.escaped(start, in_thought);
                Ok(self.raw.len())
            }
            Err(Failure::Refused(refusal)) => {
                let read = refusal.offset().unwrap_or(start).saturating_sub(start);
                self.spare = self.spare.saturating_sub(read);
                let fatal = matches!(
                    refusal.kind(),
                    ReadErrorKind::TooDeep | ReadErrorKind::TooLong
                );
                if fatal {
                    return Err(refusal);
                }
                self.note(refusal, 1);
                self.broken |= read > 2 && has_member(&self.raw[start..]);
                Ok(start + 1)
            }
        }
    }

    /// Returns the place at which the search goes on, after a valid value that does not fit: inside the value if it is
    /// a short list, else after it.
    fn next_inside(&self, tape: &Tape<'_>, start: usize, end: usize) -> usize {
        if tape.kind(0) == Kind::Array && tape.nodes.len() < 64 {
            start + 1
        } else {
            end
        }
    }

    /// Reads JSON whose quotes are all escaped, as if it were the inside of a string: one layer of escapes is removed.
    fn escaped(&mut self, start: usize, in_thought: bool) {
        let inside = unescape(&self.raw[start..]).into_owned();
        let Ok(repaired) = repair::repair(&inside, 0, Start::Value, &mut self.allowance) else {
            return;
        };
        let mut log = Log::default();
        let note = wording::ONE_LAYER_UNESCAPED;
        // Quotes that are not escaped do not belong to such a layer.
        match self.raw[start..].replace("\\\"", "").contains('"') {
            true => log.add_uncertain(ChangeKind::Escapes, String::new, note),
            false => log.add(ChangeKind::Escapes, String::new, note),
        }
        log.append(repaired.log, "");
        self.judge(&repaired.tape, log, start, self.raw.len(), in_thought);
    }

    /// Reads an answer that has no brackets: members without braces, a list in Markdown, or a single scalar.
    fn without_brackets(&mut self) -> Result<(), ReadError> {
        let text = self
            .raw
            .trim_matches(|c: char| c.is_whitespace() || c == '\u{FEFF}');
        let start = text.as_ptr() as usize - self.raw.as_ptr() as usize;
        let Some(schema) = self.schema else {
            // Only a plain string is read here; more quotes inside make it something else.
            if text.len() > 1
                && text.starts_with('"')
                && !text[1..].contains('"')
                && let Ok(repaired) =
                    repair::repair(self.raw, start, Start::Value, &mut self.allowance)
                && repaired.end >= start + text.len()
            {
                self.judge(&repaired.tape, repaired.log, start, repaired.end, false);
            }
            return Ok(());
        };
        let types = schema.types(schema.root());
        if types.has(Types::OBJECT)
            && !text.starts_with(['{', '[', '`', '<'])
            && let Ok(repaired) =
                repair::repair(self.raw, start, Start::Members, &mut self.allowance)
            && repaired.tape.nodes.len() > 1
            && repaired.tape.kind(0) == Kind::Object
        {
            self.judge(&repaired.tape, repaired.log, start, repaired.end, false);
        }
        if self.found.is_empty() && types.has(Types::ARRAY) {
            self.items_by_line(text, start);
        }
        if self.found.is_empty() && !types.within(Types::OBJECT) && !text.is_empty() {
            let stripped = super::text::strip_fences(text).into_owned();
            let mut tape = Tape::new(stripped.as_str());
            tape.nodes.push(Node {
                kind: Kind::Bare,
                made: false,
                start: 0,
                end: stripped.len() as u32,
                next: 1,
            });
            self.judge(&tape, Log::default(), start, start + text.len(), false);
        }
        Ok(())
    }

    /// Reads a list in Markdown, one item a line: `- a`, `* a`, `1. a`.
    fn items_by_line(&mut self, text: &str, start: usize) {
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        let items: Option<Vec<&str>> = lines.map(item).collect();
        let Some(items) = items.filter(|items| items.len() > 1) else {
            return;
        };
        let mut tape = Tape::new(text);
        let mut push = |kind, start: usize, end: usize, next: usize| {
            tape.nodes.push(Node {
                kind,
                made: false,
                start: start as u32,
                end: end as u32,
                next: next as u32,
            });
        };
        push(Kind::Array, 0, text.len(), items.len() + 1);
        for (n, item) in items.iter().enumerate() {
            let from = item.as_ptr() as usize - text.as_ptr() as usize;
            push(Kind::Bare, from, from + item.len(), n + 2);
        }
        let mut log = Log::default();
        let note = wording::LIST_OF_LINES;
        log.add(ChangeKind::Listed, String::new, note);
        self.judge(&tape, log, start, start + text.len(), false);
    }

    /// Keeps a value that was found as a candidate, if it can be brought into the schema's shape. Returns true if it
    /// was kept.
    fn judge(
        &mut self,
        tape: &Tape<'_>,
        mut log: Log,
        start: usize,
        end: usize,
        thinking: bool,
    ) -> bool {
        let place = place(self.raw, start, end);
        if place == Place::Glued {
            self.note(
                ReadError::of(ReadErrorKind::Syntax, wording::TEXT_FOLLOWS).at(end),
                end - start,
            );
            return false;
        }
        // A call cut off before its first argument is not read, since `{}` would be invented.
        let nothing = !tape.intact && tape.nodes.len() == 1 && tape.kind(0) == Kind::Object;
        if nothing && self.schema.is_some() && !self.raw[..end].ends_with('}') {
            let reason = wording::ENDS_BEFORE_MEMBERS;
            self.note(
                ReadError::of(ReadErrorKind::NoJson, reason).at(end),
                end - start,
            );
            return false;
        }
        let repairs = log.listed_len().min(5) as u32;
        let mut out = String::new();
        let result =
            match self.schema {
                Some(schema)
                    if tape.intact
                        && fit(schema, tape, 0, schema.root(), &mut self.allowance).is_ok() =>
                {
                    Ok(0)
                }
                Some(schema) => {
                    let mut coercer = Coercer::new(schema, end - start);
                    coercer.budget = coercer.budget.min(self.allowance);
                    let result = coercer.document(tape);
                    self.allowance = self.allowance.saturating_sub(end - start);
                    out = coercer.out;
                    log.append(coercer.log, "");
                    result
                }
                None => match tape.contradiction(0) {
                    Some(node) => Err(ReadError::of(ReadErrorKind::Ambiguous, wording::TWICE)
                        .below(tape.path(node))),
                    None => super::print::print(tape, 0, &mut out, &mut log).map(|()| 0),
                },
            };
        match result {
            Ok(_) if self.broken && log.is_of_pieces() => {
                let reason = wording::TOO_BROKEN;
                self.note(ReadError::of(ReadErrorKind::Syntax, reason).at(start), 0);
                false
            }
            Ok(cost) => {
                let json = if tape.intact && log.is_empty() {
                    Json::Part(start, end)
                } else {
                    Json::Made(out)
                };
                let slight =
                    tape.nodes.len() == 1 || (tape.kind(0) == Kind::Array && tape.nodes.len() == 2);
                self.found.push(Found {
                    json,
                    log,
                    cost: cost + repairs,
                    kind: tape.kind(0),
                    slight,
                    thinking,
                    start,
                    end,
                    place,
                });
                true
            }
            Err(refusal) => {
                self.note(refusal, end - start);
                false
            }
        }
    }

    fn note(&mut self, refusal: ReadError, length: usize) {
        if length > self.refused || self.refusal.is_none() {
            self.refused = length;
            self.refusal = Some(refusal);
        }
    }
}
