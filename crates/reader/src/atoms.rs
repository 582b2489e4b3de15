//! Strings, numbers and words, converted to the types that the schema wants.

use serde_json::Value;

use super::{
    change::ChangeKind,
    closeness::Closeness,
    coerce::{Coercer, Outcome, cost},
    error::{ReadError, ReadErrorKind},
    fit::type_of,
    number::{fraction, number, to_integer},
    scalar::{self, Guess},
    schema::{Shape, Types},
    strict,
    tape::{Kind, Tape, quote_into},
    wording,
};

/// Maximum number of times that JSON may be nested as a string inside JSON.
const MAX_NESTED: u8 = 3;

impl Coercer<'_> {
    pub(super) fn number(&mut self, tape: &Tape<'_>, at: usize, shape_at: usize) -> Outcome {
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
            let Some(integer) = to_integer(text) else {
                return Err(self.refuse(ReadErrorKind::Mismatch, wording::not_whole(&text)));
            };
            self.within(
                shape
                    .limits
                    .as_ref()
                    .and_then(|limits| limits.number(&integer)),
                tape,
                at,
            )?;
            self.out.push_str(&integer);
            self.log(ChangeKind::Coerced, wording::WHOLE_NUMBER);
            return Ok(cost::SPELLING);
        }
        if shape.types.has(Types::BOOLEAN)
            && let Some(integer @ ("0" | "1")) = to_integer(text).as_deref()
        {
            self.out
                .push_str(if integer == "1" { "true" } else { "false" });
            self.log(ChangeKind::Coerced, wording::ZERO_OR_ONE);
            return Ok(cost::TYPE + 1);
        }
        if shape.types.has(Types::STRING) {
            self.within(
                shape.limits.as_ref().and_then(|limits| limits.string(text)),
                tape,
                at,
            )?;
            quote_into(&mut self.out, text);
            self.log(ChangeKind::Coerced, wording::NUMBER_AS_STRING);
            return Ok(cost::TYPE);
        }
        self.listed(tape, at, shape_at)
    }

    /// Writes a string of the document, or a word without quotes, as the type that the schema allows here.
    pub(super) fn text(&mut self, tape: &Tape<'_>, at: usize, shape_at: usize) -> Outcome {
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
        // If the text has no quotes and other types are allowed, its looks decide.
        let looks = bare && !types.within(Types::STRING);
        let textual = match looks.then(|| scalar::guess(text, true)) {
            Some(Guess::Unclear) if numeric && types.has(Types::STRING) => {
                let reason = wording::number_or_text(&text);
                return Err(self.refuse(ReadErrorKind::Ambiguous, reason));
            }
            Some(Guess::Number(_)) => !numeric,
            Some(Guess::Literal(Kind::Null)) => !types.has(Types::NULL),
            Some(Guess::Literal(_)) => !types.has(Types::BOOLEAN),
            Some(Guess::Text | Guess::Unclear) | None => true,
        };
        if types.has(Types::STRING) && textual {
            self.within(limits.and_then(|limits| limits.string(text)), tape, at)?;
            if bare {
                quote_into(&mut self.out, text);
                let (kind, note) = (ChangeKind::Unquoted, wording::QUOTES_ADDED);
                match scalar::has_other_quotes(text) {
                    true => self.log.add_uncertain(kind, || self.path.clone(), note),
                    false => self.log(kind, note),
                }
                return Ok(cost::SPELLING);
            }
            return self.copy(tape, at);
        }
        let fraction = || fraction(text).filter(|_| types.has(Types::FRACTION));
        if numeric && let Some((number, how)) = number(text).or_else(fraction) {
            let number = match types.has(Types::FRACTION) {
                true => Some(number),
                // If points separate thousands, `1.000` is a thousand.
                false if !bare && number.ends_with(".000") => None,
                false => to_integer(&number),
            };
            let Some(number) = number else {
                return Err(self.refuse(
                    ReadErrorKind::Mismatch,
                    wording::not_whole(&tape.excerpt(at)),
                ));
            };
            self.within(limits.and_then(|limits| limits.number(&number)), tape, at)?;
            self.out.push_str(&number);
            return Ok(match (how, bare) {
                (Closeness::Found, _) => {
                    let note = || wording::number_in(&tape.excerpt(at));
                    self.log_with_original(ChangeKind::Extracted, note, text);
                    cost::FOUND
                }
                (_, true) => {
                    self.log(ChangeKind::NumberFormat, wording::NUMBER_AS_JSON);
                    cost::SPELLING
                }
                (Closeness::Notation, _) => {
                    let note = || wording::NUMBER_IN_STRING.to_owned();
                    self.log_with_original(ChangeKind::Coerced, note, text);
                    cost::TYPE + 1
                }
                (Closeness::Plain, _) => {
                    self.log(ChangeKind::Coerced, wording::NUMBER_UNQUOTED);
                    cost::TYPE
                }
            });
        }
        if types.has(Types::BOOLEAN)
            && let Some((value, how)) = scalar::boolean(text)
        {
            self.out.push_str(if value { "true" } else { "false" });
            return Ok(match how {
                Closeness::Found => {
                    let note = || wording::boolean_in(&tape.excerpt(at));
                    self.log_with_original(ChangeKind::Extracted, note, text);
                    cost::FOUND
                }
                _ => {
                    let note = || wording::read_as(&tape.excerpt(at), &value);
                    match (how, bare) {
                        (_, true) => self.log_with(ChangeKind::Literal, note),
                        (Closeness::Plain, _) => {
                            self.log(ChangeKind::Coerced, wording::BOOLEAN_UNQUOTED);
                        }
                        _ => self.log_with_original(ChangeKind::Coerced, note, text),
                    }
                    cost::TYPE + u32::from(how == Closeness::Notation)
                }
            });
        }
        let none = |text: &str| {
            let text = text.trim().to_ascii_lowercase();
            text.is_empty() || matches!(text.as_str(), "none" | "n/a")
        };
        if types.has(Types::NULL)
            && (scalar::guess(text.trim(), bare) == Guess::Literal(Kind::Null) || none(text))
        {
            self.out.push_str("null");
            match bare {
                true => {
                    let note = || wording::read_as(&tape.excerpt(at), &"null");
                    self.log_with(ChangeKind::Literal, note);
                }
                false => self.log(ChangeKind::Coerced, wording::NULL_UNQUOTED),
            }
            return Ok(cost::TYPE + 1);
        }
        if !bare
            && (types.has(Types::OBJECT) || types.has(Types::ARRAY))
            && let Some(sum) = self.parsed(text, shape_at)?
        {
            return Ok(sum);
        }
        if types.has(Types::ARRAY)
            && let Some(sum) = self.enumerated(text, shape)?
        {
            return Ok(sum);
        }
        self.listed(tape, at, shape_at)
    }

    /// Reads a list of numbers that was written as a text: `1, 2, 3`. Returns `None` if the text is no such list, or if
    /// the schema wants no list of numbers here or sets bounds for the list.
    fn enumerated(&mut self, text: &str, shape: &Shape) -> Result<Option<u32>, ReadError> {
        let Some(item) = shape.items.filter(|_| shape.first.is_empty()) else {
            return Ok(None);
        };
        let types = self.schema.types(item);
        let is_number = types.within(Types::INTEGER) || types.within(Types::NUMBER);
        if !is_number || shape.limits.is_some() {
            return Ok(None);
        }
        let mut parts = Vec::new();
        for line in text.split([';', '\n']) {
            // `1,200` may be one number.
            for part in line.split(", ").map(str::trim) {
                let is_one = strict::number(part.as_bytes(), 0) == Some(part.len())
                    && (types.has(Types::FRACTION) || to_integer(part).is_some());
                if !is_one {
                    return Ok(None);
                }
                parts.push(part);
            }
        }
        if parts.len() < 2 {
            return Ok(None);
        }
        self.log(ChangeKind::Listed, wording::NUMBERS_LISTED);
        self.out.push('[');
        for (n, part) in parts.into_iter().enumerate() {
            self.out.push_str(if n > 0 { "," } else { "" });
            match types.has(Types::FRACTION) {
                true => self.out.push_str(part),
                false => self.out.push_str(&to_integer(part).unwrap_or_default()),
            }
        }
        self.out.push(']');
        Ok(Some(cost::SHAPE))
    }

    /// Reads an object or a list that a model wrote as a string, also if the string was quoted twice. Returns `None` if
    /// the string holds neither, or if the schema does not allow that type here.
    fn parsed(&mut self, text: &str, shape_at: usize) -> Result<Option<u32>, ReadError> {
        let inside = text.trim_start();
        let brackets = inside.starts_with('{') || inside.starts_with('[');
        if !(brackets || inside.starts_with('"')) {
            return Ok(None);
        }
        if self.nested == MAX_NESTED {
            let reason = wording::STRINGS_TOO_DEEP;
            return match brackets {
                true => Err(self.refuse(ReadErrorKind::TooDeep, reason)),
                false => Ok(None),
            };
        }
        // Each branch of a union may ask again.
        self.budget = self.budget.saturating_sub(text.len());
        let Some((tape, log)) = super::locate::complete_value(text, &mut self.budget) else {
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
        self.log(ChangeKind::Nested, wording::NESTED_JSON);
        let repairs = u32::from(!log.is_empty());
        self.log.append(log, &self.path);
        self.nested += 1;
        // The string is complete, and so is the JSON in it.
        let outside = (std::mem::take(&mut self.grows), self.open.take());
        let sum = self.value(&tape, 0, shape_at);
        (self.grows, self.open) = outside;
        self.nested -= 1;
        Ok(Some(cost::TYPE + 1 + repairs + sum?))
    }

    /// Writes the allowed value (`enum`) that a string, word, number or boolean names in another spelling or within a
    /// longer text, and reports the change.
    pub(super) fn choice(
        &mut self,
        tape: &Tape<'_>,
        at: usize,
        shape: &Shape,
        shape_at: usize,
    ) -> Outcome {
        let choices = shape.choices.as_deref().unwrap_or_default();
        let text = match tape.kind(at) {
            Kind::String => tape.string(at),
            Kind::Bare | Kind::Number => tape.text(at).into(),
            Kind::True => "true".into(),
            Kind::False => "false".into(),
            Kind::Object => return self.listed(tape, at, shape_at),
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
        // A word is no number: "the answer is 2" is read as 2, and so is `2.0`, but `2.5` is not.
        let is_number = tape.kind(at) == Kind::Number;
        let as_integer = || {
            let integer = to_integer(&text).filter(|_| is_number)?;
            let mut numbers = choices.iter();
            let is_it =
                |value: &Value| matches!(value, Value::Number(n) if n.to_string() == integer);
            let n = numbers.position(is_it)?;
            Some((n, Closeness::Notation))
        };
        let named = scalar::choice(&text, &strings)
            .filter(|(_, how)| !(is_number && *how == Closeness::Found))
            .or_else(as_integer);
        let Some((n, how)) = named else {
            return Err(self.no_choice(tape, at, shape));
        };
        self.out.push_str(&choices[n].to_string());
        let note = || wording::read_as(&tape.excerpt(at), &choices[n]);
        match how {
            Closeness::Found => self.log_with_original(ChangeKind::Extracted, note, &text),
            _ => self.log_with(ChangeKind::Enum, note),
        }
        Ok(match how {
            Closeness::Found => cost::FOUND,
            _ => cost::TYPE,
        })
    }
}
