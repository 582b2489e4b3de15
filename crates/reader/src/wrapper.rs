//! Unwrapping of arguments: `{"name": …, "arguments": {…}}`, `[{…}]`.

use super::{
    change::{Change, ChangeKind},
    coerce::{Coercer, Outcome, cost},
    scalar::fold,
    schema::Types,
    tape::{Kind, Tape, push_key, quote_into},
    wording,
};

/// Keys of members in which models often put the arguments, instead of giving them directly.
const WRAPPERS: [&str; 15] = [
    "arguments",
    "args",
    "parameters",
    "params",
    "input",
    "inputs",
    "kwargs",
    "function",
    "functioncall",
    "toolcall",
    "toolcalls",
    "toolinput",
    "properties",
    "actioninput",
    "payload",
];

/// Keys that models put beside the arguments, such as the tool's name; they are no arguments themselves, as a rule.
const ENVELOPE: [&str; 16] = [
    "name",
    "tool",
    "toolname",
    "function",
    "functionname",
    "type",
    "id",
    "callid",
    "toolcallid",
    "recipient",
    "recipientname",
    "action",
    "role",
    "index",
    "status",
    "description",
];

/// Maximum number of wrappers around the arguments that are taken off.
const MAX_WRAPPERS: u8 = 4;

impl Coercer<'_> {
    /// Writes a whole document in the shape of the schema, and takes wrappers around it off.
    pub(super) fn document(&mut self, tape: &Tape<'_>) -> Outcome {
        self.unwrapped(tape, 0, 0)
    }

    fn unwrapped(&mut self, tape: &Tape<'_>, at: usize, depth: u8) -> Outcome {
        let root = self.schema.root();
        let types = self.schema.types(root);
        let mut ways = vec![Unwrapping::Direct];
        if depth < MAX_WRAPPERS && !types.has(Types::OBJECT) && tape.kind(at) == Kind::Object {
            let members: Vec<_> = tape.members(at).collect();
            if let [only] = members[..] {
                ways.push(Unwrapping::Member(only));
            }
        }
        if depth < MAX_WRAPPERS && types.has(Types::OBJECT) {
            match tape.kind(at) {
                Kind::Object => match self.wrapped(tape, at) {
                    Some(Wrapped::Only(member)) => ways.push(Unwrapping::Member(member)),
                    // Read directly, the arguments would be left out, and the tool's name would be taken for one
                    // of them.
                    Some(Wrapped::Named(member)) => ways = vec![Unwrapping::Member(member)],
                    Some(Wrapped::Among((key, _))) => {
                        let note = wording::ENVELOPE_LEFT_OUT;
                        self.log.add_uncertain(
                            ChangeKind::DroppedKey,
                            || tape.string(key).into(),
                            note,
                        );
                    }
                    None => {}
                },
                Kind::Array if !types.has(Types::ARRAY) => {
                    if let [only] = tape.children(at).collect::<Vec<_>>()[..] {
                        ways = vec![Unwrapping::Element(only)];
                    }
                    ways.extend(self.only_field(Types::ARRAY).map(Unwrapping::Implied));
                }
                Kind::Number | Kind::True | Kind::False => {
                    ways.extend(self.only_field(Types::ANY).map(Unwrapping::Implied));
                }
                // Damaged JSON in a string is no text that was meant.
                Kind::String
                    if tape.intact && !tape.string(at).trim_start().starts_with(['{', '[']) =>
                {
                    ways.extend(self.only_field(Types::STRING).map(Unwrapping::Implied));
                }
                _ => {}
            }
        }
        if let [Unwrapping::Direct] = ways[..] {
            return self.value(tape, at, root);
        }
        self.cheapest(&ways, |this, &way| match way {
            Unwrapping::Direct => this.value(tape, at, root),
            Unwrapping::Member(member) => {
                let (key, value) = member;
                this.log.add_with(ChangeKind::Unwrapped, String::new, || {
                    wording::out_of(tape.text(key))
                });
                if !is_one_of(&WRAPPERS, tape, key) {
                    this.log.unnamed_wrapper();
                }
                let beside = this.left_beside(tape, at, member);
                Ok(cost::SHAPE + beside + this.inside(tape, value, depth)?)
            }
            Unwrapping::Element(value) => {
                this.log.unnamed_wrapper();
                this.log(ChangeKind::Unwrapped, wording::OUT_OF_LIST);
                Ok(cost::SHAPE + this.inside(tape, value, depth)?)
            }
            Unwrapping::Implied(field) => {
                let field = &this.schema.shape(root).fields[field];
                this.log.add_with(ChangeKind::Unwrapped, String::new, || {
                    wording::into_the_only_field(&field.name)
                });
                this.out.push('{');
                quote_into(&mut this.out, &field.name);
                this.out.push(':');
                push_key(&mut this.path, &field.name);
                let sum = this.value(tape, at, field.shape)?;
                this.path.clear();
                this.out.push('}');
                Ok(cost::FOUND + sum)
            }
        })
    }

    /// Returns the member that may hold the arguments: the first with a key in [`WRAPPERS`], or the only member. A
    /// member whose key is a field of the schema is an argument and never holds the others.
    fn wrapped(&self, tape: &Tape<'_>, at: usize) -> Option<Wrapped> {
        let members: Vec<_> = tape.members(at).collect();
        let holds = |value: usize| match tape.kind(value) {
            Kind::Object | Kind::Array => true,
            Kind::String => tape.string(value).trim_start().starts_with(['{', '[']),
            _ => false,
        };
        let may_wrap =
            |&(key, value): &(usize, usize)| holds(value) && !self.knows(&tape.string(key));
        if let [only] = members[..] {
            return Some(Wrapped::Only(only)).filter(|_| may_wrap(&only));
        }
        let mut inner = members
            .iter()
            .filter(|member| is_one_of(&WRAPPERS, tape, member.0) && may_wrap(member));
        let &named = inner.next()?;
        // A known field beside the wrapper is an argument, unless envelopes have a key of that name.
        let is_envelope = |&(key, _): &(usize, usize)| {
            key == named.0
                || is_one_of(&ENVELOPE, tape, key)
                || is_one_of(&WRAPPERS, tape, key)
                || !self.knows(&tape.string(key))
        };
        Some(match members.iter().all(is_envelope) {
            true => Wrapped::Named(named),
            false => Wrapped::Among(named),
        })
    }

    /// Reports that members beside the arguments are dropped, and returns the cost. Members of a usual envelope, such
    /// as the tool's name, are not reported and cost nothing, unless the schema has a field of that name which the
    /// arguments lack.
    fn left_beside(
        &mut self,
        tape: &Tape<'_>,
        at: usize,
        (wrapper, inside): (usize, usize),
    ) -> u32 {
        let mut sum = 0;
        for (key, value) in tape.members(at).filter(|&(key, _)| key != wrapper) {
            let name = tape.string(key);
            let within = tape.kind(inside) == Kind::Object
                && tape
                    .members(inside)
                    .any(|(other, _)| fold(&tape.string(other)) == fold(&name));
            let is_envelope = is_one_of(&ENVELOPE, tape, key) && (within || !self.knows(&name));
            if !is_envelope {
                let note = wording::beside_wrapper(tape.text(wrapper));
                let change = Change::new(ChangeKind::DroppedKey, name, note).uncertain();
                self.log
                    .add_change(change.original_or_length(tape.text(value)));
                sum += cost::DROPPED;
            }
        }
        sum
    }

    fn inside(&mut self, tape: &Tape<'_>, value: usize, depth: u8) -> Outcome {
        self.unwrapped(tape, value, depth + 1)
    }

    /// Returns true if the schema's top level has a field of this name, in any style.
    fn knows(&self, name: &str) -> bool {
        let root = self.schema.root();
        let name = fold(name);
        let mut shapes = self.schema.shape(root).branches.iter().chain([&root]);
        shapes.any(|&at| {
            self.schema
                .shape(at)
                .fields
                .iter()
                .any(|field| fold(&field.name) == name)
        })
    }

    /// Returns the index of the only field of the schema's object; `None` if the object has no field or several, if the
    /// field cannot be of these types, or if the schema allows another type than an object.
    fn only_field(&self, types: Types) -> Option<usize> {
        let shape = self.schema.shape(self.schema.root());
        let [only] = &shape.fields[..] else {
            return None;
        };
        let fits = self.schema.types(only.shape).has(types);
        (fits && shape.types.within(Types::OBJECT)).then_some(0)
    }
}

/// Way in which a document holds the arguments, if they are wrapped.
#[derive(Clone, Copy)]
enum Unwrapping {
    /// The document itself is the arguments, without a wrapper.
    Direct,
    /// The arguments are in this member (its key and value nodes).
    Member((usize, usize)),
    /// The arguments are the only element of a list (its node).
    Element(usize),
    /// The document is the value of the schema's only field (its index among the fields).
    Implied(usize),
}

/// Way in which a member of an object holds the arguments.
enum Wrapped {
    /// The member is the only one of the wrapping object.
    Only((usize, usize)),
    /// The member has a key in [`WRAPPERS`]. No other member counts as an argument.
    Named((usize, usize)),
    /// The member has a key in [`WRAPPERS`], and arguments stand beside it.
    Among((usize, usize)),
}

/// Returns true if a key of the document is among these names, in any style.
fn is_one_of(names: &[&str], tape: &Tape<'_>, key: usize) -> bool {
    names.contains(&fold(&tape.string(key)).as_str())
}
