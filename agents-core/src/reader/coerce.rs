//! Bringing a document into the shape its schema describes.
//!
//! The result is written out as the tape is walked. What fits is copied as it
//! stands; whatever else is tried has a cost, so that of several ways the one
//! that changes least is taken. Recursion follows the document, whose depth is
//! bounded, never its length.

use super::{
    MAX_DEPTH,
    change::{ChangeKind, Log},
    fit::{equals, fit, one_of, twice, type_of},
    refusal::{Refusal, RefusalKind},
    scalar::{self, Guess, How},
    schema::{Schema, Shape, Types},
    tape::{Kind, Tape, quote_into},
};

/// What a change costs, in comparison with others.
pub(super) mod cost {
    pub(in crate::reader) const SPELLING: u32 = 1;
    pub(in crate::reader) const TYPE: u32 = 2;
    pub(in crate::reader) const SHAPE: u32 = 4;
    pub(in crate::reader) const FOUND: u32 = 6;
    pub(in crate::reader) const RENAMED: u32 = 6;
    pub(in crate::reader) const DROPPED: u32 = 10;
}

/// How often JSON may lie in a string in JSON.
const MOST_NESTED: u8 = 3;

/// How many lists may be made around one value: a recursive schema could ask
/// for ever more.
const MOST_LISTS: u8 = 2;

/// Strings parsed and lists made add to the depth of the document; all of them
/// together stay within this.
const MOST_DEEP: usize = 2 * MAX_DEPTH;

pub(super) type Outcome = Result<u32, Refusal>;

pub(super) struct Coercer<'s> {
    pub(super) schema: &'s Schema,
    pub(super) out: String,
    pub(super) log: Log,
    /// The place being written.
    pub(super) path: String,
    /// Bounds the work over all.
    pub(super) budget: usize,
    nested: u8,
    /// Lists of one that were made around the value at hand.
    lists: u8,
    /// Calls of [`Self::value`] that are open.
    depth: usize,
}

impl<'s> Coercer<'s> {
    pub(super) fn new(schema: &'s Schema, length: usize) -> Self {
        Self {
            schema,
            out: String::with_capacity(length),
            log: Log::default(),
            path: String::new(),
            budget: work(length),
            nested: 0,
            lists: 0,
            depth: 0,
        }
    }

    /// Writes the value at `at` in the given shape.
    pub(super) fn value(&mut self, tape: &Tape<'_>, at: usize, shape_at: usize) -> Outcome {
        self.budget = self.budget.checked_sub(1).ok_or_else(|| {
            Refusal::new(
                RefusalKind::TooLong,
                "the schema asks for too much work on this value",
            )
            .below(self.path.clone())
        })?;
        if self.depth == MOST_DEEP {
            return Err(self.refuse(RefusalKind::TooDeep, "values nest too deep; flatten them"));
        }
        self.depth += 1;
        let outcome = self.shaped(tape, at, shape_at);
        self.depth -= 1;
        outcome
    }

    fn shaped(&mut self, tape: &Tape<'_>, at: usize, shape_at: usize) -> Outcome {
        let schema = self.schema;
        let shape = schema.shape(shape_at);
        if !shape.branches.is_empty() {
            return self.union(tape, at, shape);
        }
        if let Some(choices) = &shape.choices {
            if shape.types.has(type_of(tape, at))
                && choices.iter().any(|choice| equals(tape, at, choice))
            {
                return self.copy(tape, at);
            }
            if !matches!(tape.kind(at), Kind::Array | Kind::Set) {
                return self.choice(tape, at, shape, shape_at);
            }
        }
        match tape.kind(at) {
            Kind::Object if shape.types.has(Types::OBJECT) => self.object(tape, at, shape_at),
            Kind::Array if shape.types.has(Types::ARRAY) => self.list(tape, at, shape),
            Kind::Set if shape.types.has(Types::ARRAY) => {
                self.log(ChangeKind::Brackets, "braces around a list made brackets");
                Ok(cost::SHAPE + self.list(tape, at, shape)?)
            }
            Kind::Array | Kind::Set => match tape.children(at).collect::<Vec<_>>()[..] {
                // One value in brackets.
                [only] if tape.kind(at) == Kind::Array => {
                    self.log(ChangeKind::Unwrapped, "taken out of a list of one");
                    Ok(cost::SHAPE + self.value(tape, only, shape_at)?)
                }
                _ => Err(self.mismatch(tape, at, shape_at)),
            },
            Kind::Object => self.listed(tape, at, shape_at),
            Kind::Null if shape.types.has(Types::NULL) => self.copy(tape, at),
            Kind::Null | Kind::Missing => Err(self.mismatch(tape, at, shape_at)),
            Kind::True | Kind::False if shape.types.has(Types::BOOLEAN) => self.copy(tape, at),
            Kind::True | Kind::False => self.listed(tape, at, shape_at),
            Kind::Number => self.number(tape, at, shape_at),
            Kind::String | Kind::Bare => self.text(tape, at, shape_at),
        }
    }

    /// The first branch that fits as it is, else the one that costs least.
    fn union(&mut self, tape: &Tape<'_>, at: usize, shape: &Shape) -> Outcome {
        let fits = |&&branch: &&usize| fit(self.schema, tape, at, branch, &mut self.budget).is_ok();
        if let Some(&branch) = shape.branches.iter().find(fits) {
            return self.value(tape, at, branch);
        }
        self.cheapest(&shape.branches, |this, &branch| {
            this.value(tape, at, branch)
        })
    }

    /// Tries several ways and keeps the cheapest. Two that cost the same and
    /// differ are one too many.
    pub(super) fn cheapest<T>(
        &mut self,
        ways: &[T],
        mut run: impl FnMut(&mut Self, &T) -> Outcome,
    ) -> Outcome {
        let start = self.out.len();
        let mark = self.log.mark();
        let mut best: Option<(u32, String, Log)> = None;
        let mut tie = false;
        let mut refusal: Option<Refusal> = None;
        for way in ways {
            let depth = self.path.len();
            match run(self, way) {
                Ok(cost) => {
                    let text = self.out.split_off(start);
                    let log = self.log.split_off(&mark);
                    match &best {
                        Some((held, ..)) if *held < cost => {}
                        Some((held, written, _)) if *held == cost => tie |= *written != text,
                        _ => {
                            best = Some((cost, text, log));
                            tie = false;
                        }
                    }
                }
                Err(error) => {
                    self.path.truncate(depth);
                    self.out.truncate(start);
                    self.log.undo(&mark);
                    // The refusal from deepest within says most.
                    if refusal
                        .as_ref()
                        .is_none_or(|held| held.path().len() < error.path().len())
                    {
                        refusal = Some(error);
                    }
                }
            }
        }
        match (best, refusal) {
            (Some(_), _) if tie => Err(self.refuse(
                RefusalKind::Ambiguous,
                "this can be read in several ways; write the one that is meant",
            )),
            (Some((cost, text, log)), _) => {
                self.out.push_str(&text);
                self.log.append(log, "");
                Ok(cost)
            }
            (None, Some(refusal)) => Err(refusal),
            (None, None) => Err(self.refuse(RefusalKind::Mismatch, "no value is allowed here")),
        }
    }

    fn list(&mut self, tape: &Tape<'_>, at: usize, shape: &Shape) -> Outcome {
        if shape.first.is_empty() && shape.items.is_none() && shape.limits.is_none() {
            return self.copy(tape, at);
        }
        let mut sum = 0;
        let mut count = 0;
        self.out.push('[');
        for (n, child) in tape.children(at).enumerate() {
            if n > 0 {
                self.out.push(',');
            }
            let depth = self.path.len();
            self.path.push_str(&format!("[{n}]"));
            sum += match shape.first.get(n).copied().or(shape.items) {
                Some(item) => self.value(tape, child, item)?,
                None => self.copy(tape, child)?,
            };
            self.path.truncate(depth);
            count += 1;
        }
        self.out.push(']');
        let limit = shape.limits.as_ref().and_then(|limits| limits.count(count));
        self.within(limit, tape, at)?;
        Ok(sum)
    }

    /// One value where a list is expected.
    pub(super) fn listed(&mut self, tape: &Tape<'_>, at: usize, shape_at: usize) -> Outcome {
        let shape = self.schema.shape(shape_at);
        let Some(item) = shape
            .items
            .or(shape.first.first().copied())
            .filter(|_| shape.types.has(Types::ARRAY))
        else {
            return Err(self.mismatch(tape, at, shape_at));
        };
        if shape.first.len() > 1 || self.lists == MOST_LISTS {
            return Err(self.mismatch(tape, at, shape_at));
        }
        self.log(ChangeKind::Listed, "one value made a list of one");
        self.out.push('[');
        self.lists += 1;
        let sum = self.value(tape, at, item);
        self.lists -= 1;
        let sum = sum?;
        self.out.push(']');
        let limit = shape.limits.as_ref().and_then(|limits| limits.count(1));
        self.within(limit, tape, at)?;
        Ok(cost::SHAPE + sum)
    }

    fn number(&mut self, tape: &Tape<'_>, at: usize, shape_at: usize) -> Outcome {
        let shape = self.schema.shape(shape_at);
        let text = tape.text(at);
        if shape.types.has(type_of(tape, at)) || shape.types.has(Types::FRACTION) {
            self.within(
                shape.limits.as_ref().and_then(|limits| limits.number(text)),
                tape,
                at,
            )?;
            return self.copy(tape, at);
        }
        if shape.types.has(Types::INTEGER) {
            let Some(whole) = scalar::whole(text) else {
                return Err(self.refuse(
                    RefusalKind::Mismatch,
                    format!("expected a whole number, got {text}"),
                ));
            };
            self.within(
                shape
                    .limits
                    .as_ref()
                    .and_then(|limits| limits.number(&whole)),
                tape,
                at,
            )?;
            self.out.push_str(&whole);
            self.log(
                ChangeKind::Coerced,
                "whole number written without its fraction",
            );
            return Ok(cost::SPELLING);
        }
        if shape.types.has(Types::BOOLEAN)
            && let Some(whole @ ("0" | "1")) = scalar::whole(text).as_deref()
        {
            self.out
                .push_str(if whole == "1" { "true" } else { "false" });
            self.log(ChangeKind::Coerced, "0 or 1 read as a boolean");
            return Ok(cost::TYPE + 1);
        }
        if shape.types.has(Types::STRING) {
            self.within(
                shape.limits.as_ref().and_then(|limits| limits.string(text)),
                tape,
                at,
            )?;
            quote_into(&mut self.out, text);
            self.log(ChangeKind::Coerced, "number written as a string");
            return Ok(cost::TYPE);
        }
        self.listed(tape, at, shape_at)
    }

    /// A string, or text without quotes, for whatever the shape wants.
    fn text(&mut self, tape: &Tape<'_>, at: usize, shape_at: usize) -> Outcome {
        let shape = self.schema.shape(shape_at);
        let types = shape.types;
        let bare = tape.kind(at) == Kind::Bare;
        let owned;
        let text: &str = if bare {
            tape.text(at)
        } else {
            owned = tape.string(at);
            &owned
        };
        let limits = shape.limits.as_ref();
        let numeric = types.has(Types::INTEGER) || types.has(Types::FRACTION);
        if types.has(Types::STRING) {
            // Without quotes and without a schema that insists, looks decide.
            if bare && !types.within(Types::STRING) && scalar::guess(text, true) != Guess::Text {
                return self.copy(tape, at);
            }
            self.within(limits.and_then(|limits| limits.string(text)), tape, at)?;
            if bare {
                quote_into(&mut self.out, text);
                self.log(ChangeKind::Unquoted, "quotes added");
                return Ok(cost::SPELLING);
            }
            return self.copy(tape, at);
        }
        if numeric && let Some((number, how)) = scalar::number(text) {
            let number = match types.has(Types::FRACTION) {
                true => Some(number),
                false => scalar::whole(&number),
            };
            let Some(number) = number else {
                return Err(self.refuse(
                    RefusalKind::Mismatch,
                    format!("expected a whole number, got {}", tape.excerpt(at)),
                ));
            };
            self.within(limits.and_then(|limits| limits.number(&number)), tape, at)?;
            self.out.push_str(&number);
            let excerpt = || format!("number taken out of {}", tape.excerpt(at));
            return Ok(match (how, bare) {
                (How::Found, _) => {
                    self.log
                        .add_with(ChangeKind::Extracted, || self.path.clone(), excerpt);
                    cost::FOUND
                }
                (_, true) => {
                    self.log(ChangeKind::NumberFormat, "number written as JSON has it");
                    cost::SPELLING
                }
                (How::Notation, _) => {
                    self.log(
                        ChangeKind::Coerced,
                        "number in a string, written as JSON has it",
                    );
                    cost::TYPE + 1
                }
                (How::Plain, _) => {
                    self.log(ChangeKind::Coerced, "number taken out of its quotes");
                    cost::TYPE
                }
            });
        }
        if types.has(Types::BOOLEAN)
            && let Some((value, how)) = scalar::boolean(text)
        {
            self.out.push_str(if value { "true" } else { "false" });
            return Ok(match how {
                How::Found => {
                    self.log.add_with(
                        ChangeKind::Extracted,
                        || self.path.clone(),
                        || format!("boolean taken out of {}", tape.excerpt(at)),
                    );
                    cost::FOUND
                }
                _ => {
                    self.log(ChangeKind::Coerced, "boolean taken out of its quotes");
                    cost::TYPE + u32::from(how == How::Notation)
                }
            });
        }
        if types.has(Types::NULL) && scalar::guess(text.trim(), false) == Guess::Literal(Kind::Null)
        {
            self.out.push_str("null");
            self.log(ChangeKind::Coerced, "null taken out of its quotes");
            return Ok(cost::TYPE + 1);
        }
        if !bare
            && (types.has(Types::OBJECT) || types.has(Types::ARRAY))
            && let Some(sum) = self.parsed(text, shape_at)?
        {
            return Ok(sum);
        }
        self.listed(tape, at, shape_at)
    }

    /// JSON that was written as a string.
    fn parsed(&mut self, text: &str, shape_at: usize) -> Result<Option<u32>, Refusal> {
        let inside = text.trim_start();
        let brackets = inside.starts_with('{') || inside.starts_with('[');
        if self.nested == MOST_NESTED || !(brackets || inside.starts_with('"')) {
            return Ok(None);
        }
        // Each branch of a union may ask again.
        self.budget = self.budget.saturating_sub(text.len());
        let Some((tape, log)) = super::locate::whole(text, &mut self.budget) else {
            return Ok(None);
        };
        let types = self.schema.types(shape_at);
        let fits = match tape.kind(0) {
            Kind::Object => types.has(Types::OBJECT),
            Kind::Array => types.has(Types::ARRAY),
            // A quoted text counts only if it holds brackets in turn.
            Kind::String => !brackets && tape.string(0).trim_start().starts_with(['{', '[']),
            _ => false,
        };
        if !fits {
            return Ok(None);
        }
        self.log(ChangeKind::Nested, "JSON in a string parsed");
        let repairs = u32::from(!log.is_empty());
        self.log.append(log, &self.path);
        self.nested += 1;
        let sum = self.value(&tape, 0, shape_at);
        self.nested -= 1;
        Ok(Some(cost::TYPE + 1 + repairs + sum?))
    }

    /// One of the allowed values, in another spelling.
    fn choice(&mut self, tape: &Tape<'_>, at: usize, shape: &Shape, shape_at: usize) -> Outcome {
        let choices = shape.choices.as_deref().unwrap_or_default();
        let text = match tape.kind(at) {
            Kind::String => tape.string(at),
            Kind::Bare | Kind::Number => tape.text(at).into(),
            Kind::Object | Kind::True | Kind::False => return self.listed(tape, at, shape_at),
            _ => return Err(self.no_choice(tape, at, shape)),
        };
        let values: Vec<String> = choices
            .iter()
            .map(|value| {
                value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned)
            })
            .collect();
        let strings: Vec<&str> = values.iter().map(String::as_str).collect();
        let Some((n, how)) = scalar::choice(&text, &strings) else {
            return Err(self.no_choice(tape, at, shape));
        };
        // A word is no number: "the answer is 2" is read, `2.5` for 2 is not.
        if how == How::Found && tape.kind(at) == Kind::Number {
            return Err(self.no_choice(tape, at, shape));
        }
        self.out.push_str(&choices[n].to_string());
        let note = || format!("{} read as {}", tape.excerpt(at), choices[n]);
        let kind = if how == How::Found {
            ChangeKind::Extracted
        } else {
            ChangeKind::Enum
        };
        self.log.add_with(kind, || self.path.clone(), note);
        Ok(match how {
            How::Found => cost::FOUND,
            _ => cost::TYPE,
        })
    }

    /// Copies a value no schema speaks of.
    pub(super) fn copy(&mut self, tape: &Tape<'_>, at: usize) -> Outcome {
        if let Some(node) = tape.contradiction(at) {
            return Err(Refusal::new(RefusalKind::Ambiguous, twice()).below(tape.path(node)));
        }
        super::print::print(tape, at, &mut self.out, &mut self.log)?;
        Ok(0)
    }

    pub(super) fn log(&mut self, kind: ChangeKind, note: &'static str) {
        let Self { log, path, .. } = self;
        log.add(kind, || path.clone(), note);
    }

    fn within(
        &self,
        limit: Option<&'static str>,
        tape: &Tape<'_>,
        at: usize,
    ) -> Result<(), Refusal> {
        match limit {
            Some(limit) => Err(self.refuse(
                RefusalKind::Mismatch,
                format!("{} is {limit}", tape.excerpt(at)),
            )),
            None => Ok(()),
        }
    }

    pub(super) fn refuse(&self, kind: RefusalKind, reason: impl Into<String>) -> Refusal {
        Refusal::new(kind, reason).below(self.path.clone())
    }

    pub(super) fn mismatch(&self, tape: &Tape<'_>, at: usize, shape_at: usize) -> Refusal {
        self.refuse(
            RefusalKind::Mismatch,
            format!(
                "expected {}, got {}",
                self.schema.types(shape_at).describe(),
                tape.excerpt(at)
            ),
        )
    }

    fn no_choice(&self, tape: &Tape<'_>, at: usize, shape: &Shape) -> Refusal {
        self.refuse(
            RefusalKind::Mismatch,
            format!("expected {}, got {}", one_of(shape), tape.excerpt(at)),
        )
    }
}

/// The work a document of this length is worth.
pub(super) fn work(length: usize) -> usize {
    length.saturating_mul(16).saturating_add(10_000)
}
