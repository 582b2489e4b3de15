//! Arguments that come wrapped: `{"name": …, "arguments": {…}}`, `[{…}]`.

use super::{
    change::ChangeKind,
    coerce::{Coercer, Outcome, cost},
    scalar::fold,
    schema::Types,
    tape::{Kind, Tape, push_key, quote_into},
};

/// Keys under which models put the arguments themselves.
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

/// Keys that may stand beside them.
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

/// How deep wrappers may lie in each other.
const MOST_WRAPPED: u8 = 4;

impl Coercer<'_> {
    /// Writes a whole document in the shape of the whole schema.
    pub(super) fn document(&mut self, tape: &Tape<'_>) -> Outcome {
        self.unwrapped(tape, 0, 0)
    }

    fn unwrapped(&mut self, tape: &Tape<'_>, at: usize, depth: u8) -> Outcome {
        let root = self.schema.root();
        let types = self.schema.types(root);
        let mut ways = vec![Way::Direct];
        if depth < MOST_WRAPPED && types.has(Types::OBJECT) {
            match tape.kind(at) {
                Kind::Object => {
                    if let Some((member, named)) = wrapped(tape, at) {
                        ways.push(Way::Member(member));
                        // Read directly, the arguments would be left out and the
                        // name of the tool taken for one of them.
                        if named && !self.knows(&tape.string(member.0)) {
                            ways.remove(0);
                        }
                    }
                }
                Kind::Array if !types.has(Types::ARRAY) => {
                    if let [only] = tape.children(at).collect::<Vec<_>>()[..] {
                        ways = vec![Way::Element(only)];
                    }
                }
                Kind::Number | Kind::True | Kind::False => {
                    ways.extend(self.only_field().map(Way::Implied))
                }
                _ => {}
            }
        }
        if let [Way::Direct] = ways[..] {
            return self.value(tape, at, root);
        }
        self.cheapest(&ways, |this, &way| match way {
            Way::Direct => this.value(tape, at, root),
            Way::Member((key, value)) => {
                this.log.add_with(ChangeKind::Unwrapped, String::new, || {
                    format!("taken out of {}", tape.text(key))
                });
                Ok(cost::SHAPE + this.inside(tape, value, depth)?)
            }
            Way::Element(value) => {
                this.log(ChangeKind::Unwrapped, "taken out of a list of one");
                Ok(cost::SHAPE + this.inside(tape, value, depth)?)
            }
            Way::Implied(field) => {
                let field = &this.schema.shape(root).fields[field];
                this.log.add_with(ChangeKind::Unwrapped, String::new, || {
                    format!("put into the only field `{}`", field.name)
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

    fn inside(&mut self, tape: &Tape<'_>, value: usize, depth: u8) -> Outcome {
        self.unwrapped(tape, value, depth + 1)
    }

    /// Whether a field of this name, in any style, is known at the top.
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

    /// The field of an object that has no other.
    fn only_field(&self) -> Option<usize> {
        let shape = self.schema.shape(self.schema.root());
        (shape.fields.len() == 1 && shape.types.within(Types::OBJECT)).then_some(0)
    }
}

#[derive(Clone, Copy)]
enum Way {
    Direct,
    /// Out of this member.
    Member((usize, usize)),
    /// Out of a list of one.
    Element(usize),
    /// Into the only field there is.
    Implied(usize),
}

/// The member that may hold the arguments: one with a telling name, with nothing
/// but the rest of the envelope beside it; or, whatever its name, the only one.
/// And whether it goes by its name.
fn wrapped(tape: &Tape<'_>, at: usize) -> Option<((usize, usize), bool)> {
    let members: Vec<_> = tape.members(at).collect();
    let holds = |value: usize| match tape.kind(value) {
        Kind::Object | Kind::Array => true,
        Kind::String => tape.string(value).trim_start().starts_with(['{', '[']),
        _ => false,
    };
    let named = |names: &[&str], key: usize| names.contains(&fold(&tape.string(key)).as_str());
    if let [(key, value)] = members[..] {
        return holds(value).then_some(((key, value), false));
    }
    let mut inner = members
        .iter()
        .filter(|&&(key, value)| named(&WRAPPERS, key) && holds(value));
    let &(key, value) = inner.next()?;
    let alone = members
        .iter()
        .all(|&(other, _)| other == key || named(&ENVELOPE, other));
    alone.then_some(((key, value), true))
}
