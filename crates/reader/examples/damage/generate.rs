//! Schemas of tool calls and values that fit them.

use agents_reader::Schema;
use serde_json::{Map, Value, json};

/// A random number generator that depends only on its seed (SplitMix64).
pub(crate) struct Dice(u64);

impl Dice {
    /// Creates the generator for one purpose of one case.
    pub(crate) fn new(seed: u64, index: u64, purpose: u64) -> Self {
        let mut dice = Dice(
            seed ^ index.wrapping_mul(0xD6E8_FEB8_6659_FD93)
                ^ purpose.wrapping_mul(0xA076_1D64_78BD_642F),
        );
        dice.next();
        dice
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns a random number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    /// Returns `true` with a probability of one in `bound`.
    pub(crate) fn once_in(&mut self, bound: usize) -> bool {
        self.below(bound) == 0
    }

    /// Returns a random item of a list.
    pub(crate) fn one<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len())]
    }
}

/// A schema and a value that fits it, with its text.
pub(crate) struct Sample {
    /// The schema of the value.
    pub(crate) schema: Value,
    /// The schema, compiled.
    pub(crate) compiled: Schema,
    /// The value.
    pub(crate) meant: Value,
    /// The text of the value, piece by piece.
    pub(crate) pieces: Vec<Piece>,
}

/// A piece of JSON text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Piece {
    pub(crate) kind: PieceKind,
    pub(crate) text: String,
}

/// Kind of a [`Piece`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PieceKind {
    Open,
    Close,
    Comma,
    Colon,
    Key,
    String,
    Scalar,
    Space,
}

const FIELDS: [&str; 30] = [
    "item",
    "limit",
    "dry_run",
    "to",
    "body",
    "subject",
    "path",
    "content",
    "lines",
    "city",
    "days",
    "amount",
    "currency",
    "name",
    "user_id",
    "tags",
    "address",
    "notes",
    "start_date",
    "recipient",
    "query",
    "max_results",
    "priority",
    "enabled",
    "title",
    "description",
    "options",
    "unit",
    "label",
    "reply_to",
];

const WORDS: [&str; 24] = [
    "tv", "Paris", "red", "alice", "report", "new", "hello", "draft", "blue", "invoice", "kitchen",
    "a", "north", "run", "x", "Meyer", "tomorrow", "null", "true", "7", "ok", "urgent", "items",
    "km",
];

const TEXTS: [&str; 37] = [
    "",
    "ann@example.com",
    "2026-11-22",
    "notes/today.md",
    "https://example.com/a?b=1,2",
    "Hello, world",
    "it's late",
    "a: b",
    "first; second",
    "5 km",
    "say \"yes\" now",
    "{x}",
    "[1, 2]",
    "C:\\temp\\new",
    "line one\nline two",
    "if (a) { return [b]; }",
    "Rue de l'Église 5, Lyon",
    "name: Bob, age: 5",
    "50%",
    "#42",
    "a/b",
    "// later",
    "<b>",
    "no",
    "12:30",
    "yes, please",
    "\"quoted\"",
    "Straße",
    "東京",
    "print(\"hi\", x)",
    "a = b",
    "one, two, three",
    "-",
    "3.5",
    "docker run \\\n  --rm shop",
    "Tom & Jerry <tom@example.com>",
    "see </parameter>",
];

const CHOICES: [&[&str]; 4] = [
    &["low", "medium", "high"],
    &["km", "mi"],
    &["EUR", "USD", "GBP"],
    &["open", "closed", "in_progress"],
];

/// Generates the schema and the value of a case.
pub(crate) fn value(seed: u64, index: u64) -> Sample {
    let mut dice = Dice::new(seed, index, 0);
    let (schema, meant) = object(&mut dice, 0);
    let style = dice.below(4);
    let mut pieces = Vec::new();
    write(&meant, style, 0, &mut pieces);
    let meant = meant.json();
    Sample {
        compiled: Schema::new(&schema).doubt_unknown_keys(),
        schema,
        meant,
        pieces,
    }
}

/// A JSON value whose members keep their order.
enum Tree {
    Scalar(String),
    String(String),
    List(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

impl Tree {
    fn json(&self) -> Value {
        match self {
            Tree::Scalar(text) => serde_json::from_str(text).unwrap_or_default(),
            Tree::String(text) => text.as_str().into(),
            Tree::List(items) => items.iter().map(Tree::json).collect(),
            Tree::Object(members) => {
                let members = members
                    .iter()
                    .map(|(key, value)| (key.clone(), value.json()));
                Value::Object(members.collect::<Map<_, _>>())
            }
        }
    }
}

fn object(dice: &mut Dice, depth: usize) -> (Value, Tree) {
    let count = 1 + dice.below(if depth == 0 { 5 } else { 3 });
    let mut properties = Map::new();
    let mut required = Vec::new();
    let mut members = Vec::new();
    for _ in 0..count {
        let name = *dice.one(&FIELDS.each_ref());
        if properties.contains_key(name) {
            continue;
        }
        let (mut schema, value) = any(dice, depth + 1);
        let optional = dice.once_in(2);
        if optional && dice.once_in(3) {
            schema = json!({"anyOf": [schema, {"type": "null"}]});
        }
        properties.insert(name.to_owned(), schema);
        if !optional {
            required.push(name);
        }
        if !optional || !dice.once_in(4) {
            members.push((name.to_owned(), value));
        }
    }
    // A model need not write members in the order of the schema.
    if dice.once_in(3) {
        members.reverse();
    }
    let schema = json!({"type": "object", "properties": properties, "required": required});
    (schema, Tree::Object(members))
}

fn any(dice: &mut Dice, depth: usize) -> (Value, Tree) {
    match dice.below(if depth > 2 { 11 } else { 15 }) {
        0..5 => (json!({"type": "string"}), Tree::String(text(dice))),
        5 | 6 => (json!({"type": "integer"}), Tree::Scalar(integer(dice))),
        7 => (json!({"type": "number"}), Tree::Scalar(number(dice))),
        8 | 9 => (
            json!({"type": "boolean"}),
            Tree::Scalar(dice.once_in(2).to_string()),
        ),
        10 => {
            let choices = *dice.one(&CHOICES.each_ref());
            (
                json!({"enum": choices}),
                Tree::String((*dice.one(choices)).to_owned()),
            )
        }
        11 | 12 => {
            let count = dice.below(4);
            let (item, first) = any(dice, depth + 1);
            let more = (0..count).map(|_| like(dice, &item, &first));
            let mut items: Vec<Tree> = more.collect();
            if !dice.once_in(5) {
                items.insert(0, first);
            }
            (json!({"type": "array", "items": item}), Tree::List(items))
        }
        13 => {
            let count = dice.below(3);
            let members = (0..count).map(|n| {
                (
                    format!("{}{n}", dice.one(&WORDS)),
                    Tree::Scalar(integer(dice)),
                )
            });
            let members = members.collect();
            (
                json!({"type": "object", "additionalProperties": {"type": "integer"}}),
                Tree::Object(members),
            )
        }
        _ => object(dice, depth),
    }
}

/// Generates another value of the same schema.
fn like(dice: &mut Dice, schema: &Value, first: &Tree) -> Tree {
    match (schema["type"].as_str(), first) {
        (Some("string"), _) => Tree::String(text(dice)),
        (Some("integer"), _) => Tree::Scalar(integer(dice)),
        (Some("number"), _) => Tree::Scalar(number(dice)),
        (Some("boolean"), _) => Tree::Scalar(dice.once_in(2).to_string()),
        (Some("object"), Tree::Object(members)) => {
            let members = members.iter().map(|(key, value)| {
                let schema = &schema["properties"][key];
                (key.clone(), like(dice, schema, value))
            });
            Tree::Object(members.collect())
        }
        (Some("array"), Tree::List(items)) => {
            let items = items.iter().map(|item| like(dice, &schema["items"], item));
            Tree::List(items.collect())
        }
        (_, Tree::Scalar(text)) => Tree::Scalar(text.clone()),
        (_, Tree::String(text)) => Tree::String(text.clone()),
        (_, Tree::List(_)) => Tree::List(Vec::new()),
        (_, Tree::Object(members)) => {
            let members = members
                .iter()
                .map(|(key, value)| (key.clone(), like(dice, &Value::Null, value)));
            Tree::Object(members.collect())
        }
    }
}

fn text(dice: &mut Dice) -> String {
    match dice.below(5) {
        0 | 1 => (*dice.one(&WORDS)).to_owned(),
        2 => format!("{} {}", dice.one(&WORDS), dice.one(&WORDS)),
        3 => format!("{}, {}", dice.one(&WORDS), dice.one(&TEXTS)),
        _ => (*dice.one(&TEXTS)).to_owned(),
    }
}

fn integer(dice: &mut Dice) -> String {
    match dice.below(4) {
        0 => dice.below(10).to_string(),
        1 => format!("-{}", 1 + dice.below(100)),
        2 => dice.below(100_000).to_string(),
        _ => dice.below(100).to_string(),
    }
}

fn number(dice: &mut Dice) -> String {
    match dice.once_in(3) {
        true => integer(dice),
        false => format!("{}.{}", dice.below(1000), 1 + dice.below(99)),
    }
}

/// Writes a value: compact, with spaces, or indented.
fn write(value: &Tree, style: usize, depth: usize, out: &mut Vec<Piece>) {
    let mut put = |kind, text: &str| {
        out.push(Piece {
            kind,
            text: text.to_owned(),
        });
    };
    let line = |depth: usize| format!("\n{}", "  ".repeat(depth));
    match value {
        Tree::Scalar(text) => put(PieceKind::Scalar, text),
        Tree::String(text) => put(PieceKind::String, &quoted(text)),
        Tree::List(_) | Tree::Object(_) => {
            let (open, close) = match value {
                Tree::List(_) => ("[", "]"),
                _ => ("{", "}"),
            };
            put(PieceKind::Open, open);
            let parts: Vec<(Option<&str>, &Tree)> = match value {
                Tree::List(items) => items.iter().map(|item| (None, item)).collect(),
                Tree::Object(members) => members
                    .iter()
                    .map(|(key, value)| (Some(key.as_str()), value))
                    .collect(),
                _ => Vec::new(),
            };
            let empty = parts.is_empty();
            for (n, (key, part)) in parts.into_iter().enumerate() {
                let mut put = |kind, text: &str| {
                    out.push(Piece {
                        kind,
                        text: text.to_owned(),
                    });
                };
                if n > 0 {
                    put(PieceKind::Comma, ",");
                    if style == 1 || style == 2 {
                        put(PieceKind::Space, " ");
                    }
                }
                if style == 3 {
                    put(PieceKind::Space, &line(depth + 1));
                }
                if let Some(key) = key {
                    put(PieceKind::Key, &quoted(key));
                    put(PieceKind::Colon, ":");
                    if style > 0 {
                        put(PieceKind::Space, " ");
                    }
                }
                write(part, style, depth + 1, out);
            }
            if style == 3 && !empty {
                out.push(Piece {
                    kind: PieceKind::Space,
                    text: line(depth),
                });
            }
            out.push(Piece {
                kind: PieceKind::Close,
                text: close.to_owned(),
            });
        }
    }
}

/// Returns a text as a JSON string.
pub(crate) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// Returns the text of all pieces.
pub(crate) fn joined(pieces: &[Piece]) -> String {
    pieces.iter().map(|piece| piece.text.as_str()).collect()
}
