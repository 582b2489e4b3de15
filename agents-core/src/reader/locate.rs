//! Finding the JSON in a text: in fences, tags, calls and prose, and not in a
//! model's thinking.
//!
//! Every place where a value may start is read; what reads is judged by the
//! schema, and the one that needed the least wins. Of equals the first does.

use super::{
    change::{ChangeKind, Log},
    coerce::{Coercer, work},
    refusal::{Refusal, RefusalKind},
    repair::{self, Failure, Start},
    scan::skip_space,
    schema::{Schema, Types},
    strict::{self, Stop},
    surroundings::{Place, place, thinking},
    tape::{Kind, Node, Tape, unescape},
};

/// A text that was read: the JSON, or the part of the text that is it.
pub(super) struct Found {
    pub(super) json: Json,
    pub(super) log: Log,
    cost: u32,
    kind: Kind,
    empty: bool,
    thinking: bool,
    start: usize,
    end: usize,
    place: Place,
}

pub(super) enum Json {
    /// This part of the text, as it stands.
    Part(usize, usize),
    Made(String),
}

/// More places than these are not tried.
const MOST_TRIED: usize = 40;

/// What is read in vain, all attempts together, stays within the length of the
/// text and this.
const SPARE: usize = 20_000;

/// Finds the value that is meant, led by the schema if there is one. `tried`
/// says where strict reading of the whole text has failed already.
pub(super) fn locate(raw: &str, schema: Option<&Schema>, tried: usize) -> Result<Found, Refusal> {
    let mut search = Search {
        raw,
        schema,
        allowance: work(raw.len()),
        tried,
        found: Vec::new(),
        refusal: None,
        refused: 0,
        attempts: 0,
        spare: raw.len() + SPARE,
    };
    let skipped = search.scan(0, raw.len(), false)?;
    if search.found.iter().all(|found| found.thinking) {
        // Nothing was said but in thought.
        for (start, end) in skipped {
            search.scan(start, end, true)?;
        }
    }
    if search.found.is_empty() {
        search.without_brackets()?;
    }
    search.choose()
}

/// A text that should be one JSON value and nothing else.
pub(super) fn whole<'t>(text: &'t str, allowance: &mut usize) -> Option<(Tape<'t>, Log)> {
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
    let repaired = repair::repair(text, start, Start::Value, allowance).ok()?;
    place(text, start, repaired.end)
        .trivial()
        .then_some((repaired.tape, repaired.log))
}

struct Search<'a, 's> {
    raw: &'a str,
    schema: Option<&'s Schema>,
    allowance: usize,
    tried: usize,
    found: Vec<Found>,
    /// The refusal of the longest candidate.
    refusal: Option<Refusal>,
    refused: usize,
    attempts: usize,
    /// Bytes that may still be read in vain.
    spare: usize,
}

impl<'a> Search<'a, '_> {
    /// Reads every candidate in a stretch of text. Returns the stretches of
    /// thinking that were passed over.
    fn scan(
        &mut self,
        from: usize,
        to: usize,
        in_thought: bool,
    ) -> Result<Vec<(usize, usize)>, Refusal> {
        let bytes = self.raw.as_bytes();
        let mut skipped = Vec::new();
        let mut at = from;
        while at < to && self.attempts < MOST_TRIED && self.spare > 0 {
            match bytes[at] {
                b'{' | b'[' => at = self.candidate(at, Start::Value, in_thought)?,
                b'(' if self.called(at) => {
                    at = self.candidate(at + 1, Start::Arguments, in_thought)?
                }
                b'<' if !in_thought => match thinking(&self.raw[at..]) {
                    Some(None) => {
                        // All before was thought, though nothing said so.
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

    /// `name(key=`: a call, as far as one can see. Only a schema can tell its
    /// arguments from prose.
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

    /// Reads the candidate at `start`, keeps it if it will do, and returns where
    /// to go on.
    fn candidate(&mut self, start: usize, how: Start, in_thought: bool) -> Result<usize, Refusal> {
        self.attempts += 1;
        let bytes = self.raw.as_bytes();
        if how == Start::Value && start != self.tried {
            let mut tape = Tape::new(self.raw);
            match strict::scan(bytes, start, &mut tape.nodes) {
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
                Ok(start + 1)
            }
            Err(Failure::Escaped) => {
                self.escaped(start, in_thought);
                Ok(self.raw.len())
            }
            Err(Failure::Refused(refusal)) => {
                let read = refusal.offset().unwrap_or(start).saturating_sub(start);
                self.spare = self.spare.saturating_sub(read);
                let fatal = matches!(refusal.kind(), RefusalKind::TooDeep | RefusalKind::TooLong);
                if fatal {
                    return Err(refusal);
                }
                self.note(refusal, 1);
                Ok(start + 1)
            }
        }
    }

    /// A valid value that does not fit may hold one that does, but only a short
    /// one is worth the second look.
    fn next_inside(&self, tape: &Tape<'_>, start: usize, end: usize) -> usize {
        if tape.kind(0) == Kind::Array && tape.nodes.len() < 64 {
            start + 1
        } else {
            end
        }
    }

    /// The whole is the inside of a string: one layer of escapes comes off.
    fn escaped(&mut self, start: usize, in_thought: bool) {
        let inside = unescape(&self.raw[start..]).into_owned();
        let Ok(repaired) = repair::repair(&inside, 0, Start::Value, &mut self.allowance) else {
            return;
        };
        let mut log = Log::default();
        log.add(
            ChangeKind::Escapes,
            String::new,
            "one layer of escapes taken off",
        );
        log.append(repaired.log, "");
        self.judge(&repaired.tape, log, start, self.raw.len(), in_thought);
    }

    /// Values that do not start with a bracket.
    fn without_brackets(&mut self) -> Result<(), Refusal> {
        let text = self
            .raw
            .trim_matches(|c: char| c.is_whitespace() || c == '\u{FEFF}');
        let start = text.as_ptr() as usize - self.raw.as_ptr() as usize;
        let Some(schema) = self.schema else {
            if text.starts_with('"')
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
        {
            self.judge(&repaired.tape, repaired.log, start, repaired.end, false);
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

    /// Whether a candidate will do; if so it is kept.
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
                Refusal::new(
                    RefusalKind::Syntax,
                    "text follows the closing bracket; end there",
                )
                .at(end),
                end - start,
            );
            return false;
        }
        let repairs = log.told().min(5) as u32;
        let mut out = String::new();
        let result = match self.schema {
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
                Some(node) => Err(Refusal::new(RefusalKind::Ambiguous, super::fit::twice())
                    .below(tape.path(node))),
                None => super::print::print(tape, 0, &mut out, &mut log).map(|()| 0),
            },
        };
        match result {
            Ok(cost) => {
                let json = if tape.intact && log.is_empty() {
                    Json::Part(start, end)
                } else {
                    Json::Made(out)
                };
                let empty =
                    tape.nodes.len() == 1 && matches!(tape.kind(0), Kind::Object | Kind::Array);
                self.found.push(Found {
                    json,
                    log,
                    cost: cost + repairs,
                    kind: tape.kind(0),
                    empty,
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

    fn note(&mut self, refusal: Refusal, length: usize) {
        if length > self.refused || self.refusal.is_none() {
            self.refused = length;
            self.refusal = Some(refusal);
        }
    }

    /// The best of what was found.
    fn choose(mut self) -> Result<Found, Refusal> {
        if self.found.iter().any(|found| !found.thinking) {
            self.found.retain(|found| !found.thinking);
        }
        // An empty bracket amid prose means nothing by itself.
        if self.schema.is_none() {
            self.found
                .retain(|found| !found.empty || found.place.trivial());
        }
        if self.found.len() > 1 {
            match self.schema.map(|schema| schema.types(schema.root())) {
                None => self.settle()?,
                Some(types) if types.has(Types::ARRAY) && !types.has(Types::OBJECT) => {
                    self.gather()
                }
                Some(_) => {}
            }
        }
        let best = self
            .found
            .iter()
            .enumerate()
            .min_by_key(|(n, found)| (found.cost, found.place.rank(), *n))
            .map(|(n, _)| n);
        let Some(best) = best else {
            return Err(self.refusal.unwrap_or_else(|| {
                let reason = if self.raw.trim().is_empty() {
                    "the text is empty; write a JSON object"
                } else {
                    "no JSON found; write a JSON object"
                };
                Refusal::new(RefusalKind::NoJson, reason)
            }));
        };
        let rivals = self.found.len() > 1;
        let mut found = self.found.swap_remove(best);
        found.place.tell(&mut found.log, rivals);
        Ok(found)
    }

    /// Without a schema several values are a list if commas say so, one value if
    /// they are the same, and otherwise too many.
    fn settle(&mut self) -> Result<(), Refusal> {
        let full = |found: &Found| found.kind == Kind::Object && !found.empty;
        let commas = self
            .found
            .windows(2)
            .all(|pair| self.raw[pair[0].end..pair[1].start].trim() == ",");
        let (first, last) = (&self.found[0], &self.found[self.found.len() - 1]);
        if commas && place(self.raw, first.start, last.end).trivial() {
            self.join(|text| text);
            return Ok(());
        }
        if self.found.iter().any(full) {
            self.found.retain(full);
        }
        let first = self.text_of(&self.found[0]);
        if self.found.iter().any(|found| self.text_of(found) != first) {
            return Err(
                Refusal::new(RefusalKind::Ambiguous, "several JSON values; write one")
                    .at(self.found[1].start),
            );
        }
        Ok(())
    }

    /// With a list wanted, several values that each became a list of one are
    /// its elements.
    fn gather(&mut self) {
        if self.found.iter().all(|found| found.kind == Kind::Object) {
            self.join(|list| list.trim().trim_start_matches('[').trim_end_matches(']'));
        }
    }

    fn join(&mut self, element: fn(&str) -> &str) {
        let mut list = String::from("[");
        let mut log = Log::default();
        for (n, found) in self.found.iter().enumerate() {
            list.push_str(if n > 0 { "," } else { "" });
            list.push_str(element(self.text_of(found)));
            log.append(found.log.clone(), &format!("[{n}]"));
        }
        list.push(']');
        log.add(
            ChangeKind::Listed,
            String::new,
            "several values made a list",
        );
        let (start, end) = (self.found[0].start, self.found[self.found.len() - 1].end);
        let place = place(self.raw, start, end);
        let cost = self.found.iter().map(|found| found.cost).sum();
        self.found = vec![Found {
            json: Json::Made(list),
            log,
            cost,
            kind: Kind::Array,
            empty: false,
            thinking: false,
            start,
            end,
            place,
        }];
    }

    fn text_of<'f>(&'f self, found: &'f Found) -> &'f str {
        match &found.json {
            Json::Part(start, end) => &self.raw[*start..*end],
            Json::Made(text) => text,
        }
    }
}

pub(super) fn too_deep(at: usize) -> Refusal {
    Refusal::new(
        RefusalKind::TooDeep,
        "brackets nest too deep; flatten the value",
    )
    .at(at)
}
