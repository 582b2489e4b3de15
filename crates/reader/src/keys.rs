//! Objects, and the field that each key means.

use super::{
    change::{Change, ChangeKind},
    coerce::{Coercer, Outcome, cost},
    error::ReadErrorKind,
    fit::{self, Seen, known},
    scalar::{fold, literal},
    schema::{Rest, Schema, Shape, Types},
    tape::{Kind, Tape, push_key, quote_into},
    wording,
};

/// Role that the schema gives to a member of an object in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// The key is the name of the field with this index.
    Field(usize),
    /// The key is another spelling of this field's name.
    Restyled(usize),
    /// The key must mean this field, which is the only required field that is missing, or the only missing field.
    Inferred(usize),
    /// The member is no field, but the schema allows it. The index is the shape of its value; `None` allows any value.
    Kept(Option<usize>),
    Unknown,
    /// The member looks like an entry of a map, under a key that the map cannot have. Such a member is an error.
    Foreign,
}

impl Role {
    pub(super) fn field(self) -> Option<usize> {
        match self {
            Self::Field(n) | Self::Restyled(n) | Self::Inferred(n) => Some(n),
            Self::Kept(_) | Self::Unknown | Self::Foreign => None,
        }
    }
}

impl Coercer<'_> {
    /// Writes the object of the node `at` in the given shape: finds the field of each key, and supplies defaults.
    pub(super) fn object(&mut self, tape: &Tape<'_>, at: usize, shape_at: usize) -> Outcome {
        let schema = self.schema;
        let shape = schema.shape(shape_at);
        if shape.fields.is_empty()
            && shape.patterns.is_empty()
            && shape.rest == Rest::Keep
            && shape.limits.is_none()
        {
            return self.copy(tape, at);
        }
        let members: Vec<_> = tape.members(at).collect();
        let roles = roles(schema, shape, tape, &members);
        let mut sum = 0;
        let mut kept = 0usize;
        let mut gone = 0usize;
        // Fields written, and the node each came from.
        let mut from = vec![None; shape.fields.len()];
        let depth = self.path.len();
        self.out.push('{');
        for (&(key, value), role) in members.iter().zip(roles) {
            self.path.truncate(depth);
            let name = match role.field() {
                Some(n) => shape.fields[n].name.as_str().into(),
                None => tape.string(key),
            };
            push_key(&mut self.path, &name);
            if let Some(n) = role.field() {
                let field = &shape.fields[n];
                let empty = says_nothing(tape, value, schema.types(field.shape));
                if let Some(first) = from[n].filter(|_| !empty) {
                    if !tape.same(first, value) {
                        return Err(self.refuse(ReadErrorKind::Ambiguous, wording::TWICE));
                    }
                    self.log(ChangeKind::Duplicate, wording::SAID_TWICE);
                    sum += cost::SPELLING;
                    continue;
                }
                // Beside a value, an empty member adds nothing.
                let optional = !field.required && shape.rest != Rest::Refuse;
                let missing = tape.kind(value) == Kind::Missing && !self.grows;
                if missing && let Some(default) = &field.default {
                    self.out.push_str(if kept > 0 { "," } else { "" });
                    kept += 1;
                    self.default(&field.name, default);
                    from[n] = Some(value);
                    sum += cost::FOUND;
                    continue;
                }
                if empty && (optional || from[n].is_some()) {
                    self.log(ChangeKind::DroppedNull, wording::NO_VALUE_LEFT_OUT);
                    sum += cost::SPELLING;
                    gone += 1;
                    continue;
                }
                from[n] = Some(value);
            }
            if role == Role::Foreign {
                let reason = wording::foreign_to_map(&known(shape));
                return Err(self.refuse(ReadErrorKind::Mismatch, reason));
            }
            if role == Role::Unknown {
                let (log, path) = (&mut self.log, &self.path);
                let (kind, note) = (ChangeKind::DroppedKey, wording::UNKNOWN_LEFT_OUT);
                let was = tape.text(value);
                if schema.doubts_unknown_keys && !is_empty(tape, value) {
                    let change = Change::new(kind, path.as_str(), note).uncertain();
                    log.add_change(change.original_or_length(was));
                } else {
                    log.add_with_original(kind, || path.clone(), || note.to_owned(), was);
                }
                sum += cost::DROPPED;
                continue;
            }
            let before = (self.out.len(), depth);
            if kept > 0 {
                self.out.push(',');
            }
            kept += 1;
            sum += self.renamed(tape, key, role, shape);
            self.out.push(':');
            let cost = match role {
                Role::Field(n) | Role::Restyled(n) | Role::Inferred(n) => {
                    self.value(tape, value, shape.fields[n].shape)
                }
                Role::Kept(Some(shape)) => {
                    if !tape.unclosed.is_empty() && schema.has_field(&name) {
                        let note = wording::MAP_MAY_BE_OPEN;
                        self.log
                            .add_uncertain(ChangeKind::Closed, || self.path.clone(), note);
                    }
                    self.value(tape, value, shape)
                }
                Role::Kept(None) | Role::Unknown | Role::Foreign => self.copy(tape, value),
            };
            let is_last = tape.next(value) == tape.next(at);
            sum += self.unless_growing(cost, is_last, before)?.unwrap_or(0);
        }
        self.path.truncate(depth);
        self.out.push('}');
        if self.grows {
            return Ok(sum);
        }
        if let Some(field) = shape
            .fields
            .iter()
            .zip(&from)
            .find(|(field, from)| field.required && from.is_none())
        {
            push_key(&mut self.path, &field.0.name);
            return Err(self.refuse(ReadErrorKind::Mismatch, wording::MISSING));
        }
        if tape.unclosed.contains(&(at as u32)) {
            self.might_go_on(shape, &from);
        }
        // None of the members is left, so this is no reading of the text.
        if kept + gone == 0 && !members.is_empty() && !shape.fields.is_empty() {
            return Err(self.refuse(
                ReadErrorKind::Mismatch,
                wording::no_known_key(&known(shape)),
            ));
        }
        if let Some(limit) = shape
            .limits
            .as_ref()
            .and_then(|limits| limits.members(kept))
        {
            return Err(self.refuse(ReadErrorKind::Mismatch, limit));
        }
        if members.len() > from.iter().flatten().count()
            && let Some(node) = tape.contradiction(at).filter(|_| shape.rest != Rest::Drop)
        {
            return Err(self
                .refuse(ReadErrorKind::Ambiguous, wording::TWICE)
                .below(tape.path(node)));
        }
        Ok(sum)
    }

    /// Writes a member whose value the text lacks, as in `{"a": }`, with the default value of its field. A field
    /// without a key gets no default.
    fn default(&mut self, name: &str, default: &str) {
        quote_into(&mut self.out, name);
        self.out.push(':');
        self.out.push_str(default);
        let note = || wording::default_of_schema(default);
        self.log_with(ChangeKind::Defaulted, note);
    }

    /// Records that the text ended in this object, so that missing members may have been to come.
    fn might_go_on(&mut self, shape: &Shape, from: &[Option<usize>]) {
        let mut fields = shape.fields.iter().zip(from);
        let next = match (fields.find(|(_, from)| from.is_none()), shape.rest) {
            (Some((field, _)), _) => format!("`{}`", field.name),
            (None, Rest::Shape(_)) => "another key".to_owned(),
            (None, _) => return,
        };
        self.log.add_with(
            ChangeKind::CutOff,
            || self.path.clone(),
            || wording::more_to_come(&next),
        );
    }

    /// Writes the key under the name that the schema has for it, and returns the cost of the change.
    fn renamed(&mut self, tape: &Tape<'_>, key: usize, role: Role, shape: &Shape) -> u32 {
        let (n, kind, price) = match role {
            Role::Field(_) | Role::Kept(_) | Role::Unknown | Role::Foreign => {
                self.out.push_str(tape.text(key));
                return 0;
            }
            Role::Restyled(n) => (n, ChangeKind::Renamed, cost::TYPE),
            Role::Inferred(n) => (n, ChangeKind::Inferred, cost::RENAMED),
        };
        quote_into(&mut self.out, &shape.fields[n].name);
        let said = tape.text(key);
        let note = || match kind {
            ChangeKind::Inferred => wording::left_over(said),
            _ => wording::renamed(said),
        };
        self.log.add_with(kind, || self.path.clone(), note);
        price
    }
}

/// Finds the role of each member: by name, else without case and style, else by elimination. Elimination needs a single
/// missing required field, or else a single missing field, and a single key that is left over. One of the two names
/// must contain the other.
pub(super) fn roles(
    schema: &Schema,
    shape: &Shape,
    tape: &Tape<'_>,
    members: &[(usize, usize)],
) -> Vec<Role> {
    let mut taken = Seen::new(shape.fields.len());
    let mut expected = 0;
    let mut unknown = 0;
    let mut roles: Vec<Role> = members
        .iter()
        .map(|&(key, _)| match fit::field(shape, tape, key, expected) {
            Some(n) => {
                expected = n + 1;
                taken.insert(n);
                Role::Field(n)
            }
            None => match fit::rest(shape, tape, key) {
                Rest::Keep => Role::Kept(None),
                Rest::Shape(at) => Role::Kept(Some(at)),
                Rest::Drop => {
                    unknown += 1;
                    Role::Unknown
                }
                Rest::Refuse => Role::Foreign,
            },
        })
        .collect();
    let open = |role: Role| matches!(role, Role::Unknown | Role::Foreign | Role::Kept(None));
    if shape.fields.is_empty() || !roles.iter().any(|&role| open(role)) {
        return roles;
    }
    let folded: Vec<String> = shape.fields.iter().map(|field| fold(&field.name)).collect();
    let mut restyled = Vec::new();
    for (role, &(key, _)) in roles.iter_mut().zip(members) {
        if !open(*role) {
            continue;
        }
        let name = fold(&tape.string(key));
        // An unknown key may name a field a second time; an allowed key may not.
        let again = *role != Role::Kept(None);
        let said = tape.string(key).to_lowercase();
        let is_free = |n: &usize| folded[*n] == name && (again || !taken.has(*n));
        let mut free: Vec<usize> = (0..folded.len()).filter(is_free).collect();
        // If two fields are alike in style, the field that differs only in case is taken.
        if free.len() > 1 {
            free.retain(|&n| shape.fields[n].name.to_lowercase() == said);
        }
        if let [n] = free[..] {
            unknown -= usize::from(*role == Role::Unknown);
            *role = Role::Restyled(n);
            restyled.push(n);
        }
    }
    for n in restyled {
        taken.insert(n);
    }
    if unknown != 1 {
        return roles;
    }
    // By elimination: the only missing required field, or, if no required field is missing, the only field left.
    let mut missing: Vec<usize> = (0..folded.len()).filter(|&n| !taken.has(n)).collect();
    if missing.iter().any(|&n| shape.fields[n].required) {
        missing.retain(|&n| shape.fields[n].required);
    }
    if let [n] = missing[..]
        && let Some(at) = roles.iter().position(|&role| role == Role::Unknown)
        && contains_name(&tape.string(members[at].0), &shape.fields[n].name)
        && plausible(tape, members[at].1, schema, shape.fields[n].shape)
    {
        roles[at] = Role::Inferred(n);
    }
    roles
}

/// Returns true if a value counts as left out, for a field of these types: no value, `null` where the field does not
/// allow it, or `"null"` or an empty text where the field allows neither a text nor `null`.
fn says_nothing(tape: &Tape<'_>, value: usize, types: Types) -> bool {
    match tape.kind(value) {
        Kind::Missing => true,
        Kind::Null => !types.has(Types::NULL),
        Kind::String if !types.has(Types::STRING) && !types.has(Types::NULL) => {
            let text = tape.string(value);
            let text = text.trim();
            text.is_empty() || literal(text) == Some(Kind::Null)
        }
        _ => false,
    }
}

/// Returns true if a value says nothing under any key: `null`, an empty text, an empty list or object.
pub(super) fn is_empty(tape: &Tape<'_>, value: usize) -> bool {
    match tape.kind(value) {
        Kind::Missing | Kind::Null => true,
        Kind::String => tape.string(value).trim().is_empty(),
        Kind::Array | Kind::Object | Kind::Set => tape.children(value).next().is_none(),
        _ => false,
    }
}

/// Returns true if one name contains the other, without case and style. A name of two letters must be a word of the
/// other.
fn contains_name(one: &str, two: &str) -> bool {
    let (one_folded, two_folded) = (fold(one), fold(two));
    let (short, long) = if one_folded.len() < two_folded.len() {
        (one_folded, two_folded)
    } else {
        (two_folded, one_folded)
    };
    let words = if long == fold(one) { one } else { two };
    short.len() >= 3 && long.contains(&short) || short.len() >= 2 && has_part(words, &short)
}

/// Returns true if a name has this word among its parts: `userId` and `user_id` have `id`.
fn has_part(name: &str, word: &str) -> bool {
    let mut part = String::new();
    let mut small = false;
    for c in name.chars().chain(['_']) {
        let edge = matches!(c, '_' | '-' | '.') || c.is_whitespace();
        if edge || (small && c.is_uppercase()) {
            if part == word {
                return true;
            }
            part.clear();
        }
        if !edge {
            part.extend(c.to_lowercase());
        }
        small = c.is_lowercase();
    }
    false
}

/// Returns true if a value could be meant for a shape at all: a list is no number.
fn plausible(tape: &Tape<'_>, value: usize, schema: &Schema, shape: usize) -> bool {
    let types = schema.types(shape);
    match tape.kind(value) {
        Kind::Object => types.has(Types::OBJECT) || types.has(Types::ARRAY),
        Kind::Array | Kind::Set => types.has(Types::ARRAY),
        _ => true,
    }
}
