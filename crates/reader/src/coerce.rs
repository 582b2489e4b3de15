//! Conversion of a document to the shape that its schema describes.
//!
//! The result is written while the tape is walked. A value that fits is copied as it stands. Every other way to read
//! a value has a cost, and the way that changes least is taken. Recursion follows the depth of the document, which is
//! bounded, and never its length.

use std::fmt::Write;

use super::{
    MAX_DEPTH,
    change::ChangeKind,
    error::{ReadError, ReadErrorKind},
    fit::{equals, fit, one_of, type_of},
    log::Log,
    scalar::{Guess, guess, literal},
    schema::{Schema, Shape, Types},
    tape::{Kind, Tape},
    wording,
};

/// Costs of the changes. Of several ways to read a value, the one with the smallest sum is taken.
pub(super) mod cost {
    pub(crate) const SPELLING: u32 = 1;
    pub(crate) const TYPE: u32 = 2;
    pub(crate) const SHAPE: u32 = 4;
    pub(crate) const FOUND: u32 = 6;
    pub(crate) const RENAMED: u32 = 6;
    pub(crate) const DROPPED: u32 = 10;
}

/// Maximum number of lists that are made around one value; a recursive schema could ask for ever more.
const MAX_LISTS: u8 = 2;

/// Maximum depth of a document, to which parsed strings, added lists and alternatives within alternatives add.
const MAX_DOCUMENT_DEPTH: usize = 2 * MAX_DEPTH;

pub(super) type Outcome = Result<u32, ReadError>;

pub(super) struct Coercer<'s> {
    pub(super) schema: &'s Schema,
    pub(super) out: String,
    pub(super) log: Log,
    /// Path of the value that is being written, for reports of changes and errors.
    pub(super) path: String,
    /// Amount of work that may still be done for the whole document; at 0, reading fails with `TooLong`.
    pub(super) budget: usize,
    pub(super) nested: u8,
    /// Number of lists that were put around the current value, since the schema wants a list.
    lists: u8,
    /// Number of calls of [`Self::value`] that have not returned.
    depth: usize,
    /// `true` if the text is still being written, so that required fields may follow.
    pub(super) grows: bool,
    /// Index of the node of the string that the model is still writing; `None` if no string is unfinished.
    pub(super) open: Option<usize>,
    /// Path of the string in `open`, once the string is written out.
    pub(super) open_path: Option<String>,
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
            grows: false,
            open: None,
            open_path: None,
        }
    }

    /// Writes the value of the node `at` as the shape `shape_at` of the schema wants it. Reports each change, and
    /// returns the cost of all.
    pub(super) fn value(&mut self, tape: &Tape<'_>, at: usize, shape_at: usize) -> Outcome {
        self.budget = self.budget.checked_sub(1).ok_or_else(|| {
            ReadError::of(ReadErrorKind::TooLong, wording::TOO_MUCH_WORK_ON_VALUE)
                .below(self.path.clone())
        })?;
        #[cfg(test)]
        super::laws::step(1);
        if self.depth == MAX_DOCUMENT_DEPTH {
            return Err(self.refuse(ReadErrorKind::TooDeep, wording::VALUES_TOO_DEEP));
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
        if self.open == Some(at) {
            // Its end is unknown, so only any text will do.
            if shape.choices.is_some() || !shape.types.has(Types::STRING) {
                return Err(self.mismatch(tape, at, shape_at));
            }
            self.open_path = Some(self.path.clone());
        }
        if let Some(choices) = &shape.choices {
            if shape.types.has(type_of(tape, at))
                && choices.iter().any(|choice| equals(tape, at, choice))
            {
                return self.copy(tape, at);
            }
            return match tape.kind(at) {
                Kind::Array => self.only(tape, at, shape_at),
                _ => self.choice(tape, at, shape, shape_at),
            };
        }
        match tape.kind(at) {
            Kind::Object if shape.types.has(Types::OBJECT) => self.object(tape, at, shape_at),
            Kind::Array if shape.types.has(Types::ARRAY) => self.list(tape, at, shape),
            Kind::Set if shape.types.has(Types::ARRAY) => {
                self.log(ChangeKind::Brackets, wording::BRACES_MADE_BRACKETS);
                Ok(cost::SHAPE + self.list(tape, at, shape)?)
            }
            Kind::Array => self.only(tape, at, shape_at),
            Kind::Set => Err(self.mismatch(tape, at, shape_at)),
            Kind::Object => self.listed(tape, at, shape_at),
            Kind::Null if shape.types.has(Types::NULL) => self.copy(tape, at),
            Kind::Null | Kind::Missing => Err(self.mismatch(tape, at, shape_at)),
            Kind::True | Kind::False if shape.types.has(Types::BOOLEAN) => self.copy(tape, at),
            Kind::True | Kind::False => self.listed(tape, at, shape_at),
            Kind::Number => self.number(tape, at, shape_at),
            Kind::String | Kind::Bare => self.text(tape, at, shape_at),
        }
    }

    /// Writes the only element of a list of one, where the schema wants no list.
    fn only(&mut self, tape: &Tape<'_>, at: usize, shape_at: usize) -> Outcome {
        let mut children = tape.children(at);
        match (children.next(), children.next()) {
            (Some(only), None) => {
                self.log.unnamed_wrapper();
                self.log(ChangeKind::Unwrapped, wording::OUT_OF_LIST);
                Ok(cost::SHAPE + self.value(tape, only, shape_at)?)
            }
            _ => Err(self.mismatch(tape, at, shape_at)),
        }
    }

    /// Writes a value that may have several shapes (`anyOf`): by the first branch that fits as it is, else by the
    /// branch that costs least.
    fn union(&mut self, tape: &Tape<'_>, at: usize, shape: &Shape) -> Outcome {
        let fits = |&&branch: &&usize| fit(self.schema, tape, at, branch, &mut self.budget).is_ok();
        if let Some(&branch) = shape.branches.iter().find(fits) {
            return self.value(tape, at, branch);
        }
        // If `null` is allowed, `nul` at the end of a text that was cut off is no text.
        if tape.kind(at) == Kind::Bare
            && literal(tape.text(at)).is_none()
            && let Guess::Literal(kind) = guess(tape.text(at), true)
            && shape.types.has(type_of_kind(kind))
        {
            let begun = type_of_kind(kind);
            let branches = shape.branches.iter().copied();
            let branches: Vec<_> = branches
                .filter(|&branch| self.schema.types(branch).has(begun))
                .collect();
            return self.cheapest(&branches, |this, &branch| this.value(tape, at, branch));
        }
        self.cheapest(&shape.branches, |this, &branch| {
            this.value(tape, at, branch)
        })
    }

    /// Tries several ways to read a value and keeps the one whose changes cost least. Two different results of the same
    /// cost are an error.
    pub(super) fn cheapest<T>(
        &mut self,
        ways: &[T],
        mut run: impl FnMut(&mut Self, &T) -> Outcome,
    ) -> Outcome {
        let start = self.out.len();
        let mark = self.log.mark();
        let mut best: Option<(u32, String, Log)> = None;
        let mut tie = false;
        let mut refusal: Option<ReadError> = None;
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
                    // The error from the deepest place says most.
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
            (Some(_), _) if tie => {
                Err(self.refuse(ReadErrorKind::Ambiguous, wording::SEVERAL_READINGS))
            }
            (Some((cost, text, log)), _) => {
                self.out.push_str(&text);
                self.log.append(log, "");
                Ok(cost)
            }
            (None, Some(refusal)) => Err(refusal),
            (None, None) => Err(self.refuse(ReadErrorKind::Mismatch, wording::NOTHING_ALLOWED)),
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
            let before = (self.out.len(), self.path.len());
            if n > 0 {
                self.out.push(',');
            }
            _ = write!(self.path, "[{n}]");
            let cost = match shape.first.get(n).copied().or(shape.items) {
                Some(item) => self.value(tape, child, item),
                None => self.copy(tape, child),
            };
            let is_last = tape.next(child) == tape.next(at);
            let Some(cost) = self.unless_growing(cost, is_last, before)? else {
                break;
            };
            sum += cost;
            self.path.truncate(before.1);
            count += 1;
        }
        self.out.push(']');
        if self.grows {
            return Ok(sum);
        }
        let limit = shape.limits.as_ref().and_then(|limits| limits.count(count));
        self.within(limit, tape, at)?;
        Ok(sum)
    }

    /// Returns the cost of writing a member or an item. If the last member or item of a growing text does not fit yet,
    /// what was written of it is taken back, and the result is `None`.
    pub(super) fn unless_growing(
        &mut self,
        cost: Outcome,
        is_last: bool,
        (out, path): (usize, usize),
    ) -> Result<Option<u32>, ReadError> {
        match cost {
            Err(_) if self.grows && is_last => {
                self.out.truncate(out);
                self.path.truncate(path);
                Ok(None)
            }
            cost => cost.map(Some),
        }
    }

    /// Writes one value as a list of one, if the schema wants a list.
    pub(super) fn listed(&mut self, tape: &Tape<'_>, at: usize, shape_at: usize) -> Outcome {
        let shape = self.schema.shape(shape_at);
        let Some(item) = shape
            .items
            .or(shape.first.first().copied())
            .filter(|_| shape.types.has(Types::ARRAY))
        else {
            return Err(self.mismatch(tape, at, shape_at));
        };
        if shape.first.len() > 1 || self.lists == MAX_LISTS {
            return Err(self.mismatch(tape, at, shape_at));
        }
        self.log(ChangeKind::Listed, wording::INTO_LIST);
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

    /// Writes a value without a change of its type, because it fits or because there is no schema for it.
    pub(super) fn copy(&mut self, tape: &Tape<'_>, at: usize) -> Outcome {
        if self.open == Some(at) {
            self.open_path = Some(self.path.clone());
        }
        if matches!(tape.kind(at), Kind::Number | Kind::String) {
            self.out.push_str(tape.text(at));
            return Ok(0);
        }
        if let Some(node) = tape.contradiction(at) {
            return Err(
                ReadError::of(ReadErrorKind::Ambiguous, wording::TWICE).below(tape.path(node))
            );
        }
        super::print::print(tape, at, &mut self.out, &mut self.log)?;
        Ok(0)
    }

    pub(super) fn log(&mut self, kind: ChangeKind, note: &'static str) {
        let Self { log, path, .. } = self;
        log.add(kind, || path.clone(), note);
    }

    pub(super) fn log_with(&mut self, kind: ChangeKind, note: impl FnOnce() -> String) {
        let Self { log, path, .. } = self;
        log.add_with(kind, || path.clone(), note);
    }

    /// Adds a change at the current path, with the text that was there before.
    pub(super) fn log_with_original(
        &mut self,
        kind: ChangeKind,
        note: impl FnOnce() -> String,
        was: &str,
    ) {
        let Self { log, path, .. } = self;
        log.add_with_original(kind, || path.clone(), note, was);
    }

    pub(super) fn within(
        &self,
        limit: Option<&'static str>,
        tape: &Tape<'_>,
        at: usize,
    ) -> Result<(), ReadError> {
        match limit {
            Some(limit) => Err(self.refuse(
                ReadErrorKind::Mismatch,
                wording::beyond(&tape.excerpt(at), limit),
            )),
            None => Ok(()),
        }
    }

    pub(super) fn refuse(&self, kind: ReadErrorKind, reason: impl Into<String>) -> ReadError {
        ReadError::of(kind, reason).below(self.path.clone())
    }

    pub(super) fn mismatch(&self, tape: &Tape<'_>, at: usize, shape_at: usize) -> ReadError {
        self.refuse(
            ReadErrorKind::Mismatch,
            wording::mismatch(&self.schema.types(shape_at).describe(), &tape.excerpt(at)),
        )
    }

    pub(super) fn no_choice(&self, tape: &Tape<'_>, at: usize, shape: &Shape) -> ReadError {
        self.refuse(
            ReadErrorKind::Mismatch,
            wording::mismatch(&one_of(shape), &tape.excerpt(at)),
        )
    }
}

/// Returns the amount of work that reading a document of this length, in bytes, may take.
pub(super) fn work(length: usize) -> usize {
    length.saturating_mul(16).saturating_add(10_000)
}

fn type_of_kind(literal: Kind) -> Types {
    match literal {
        Kind::Null => Types::NULL,
        _ => Types::BOOLEAN,
    }
}
