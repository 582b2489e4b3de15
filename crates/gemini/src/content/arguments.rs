//! Arguments that arrive value by value, each with its path.

use super::wire::PartialArgument;
use serde_json::{Map, Value};

/// Maximum length of a list in the arguments of a call that arrive value by value.
const MAX_ITEMS: usize = 10_000;

/// Maximum number of steps of a path to a value of the arguments.
const MAX_DEPTH: usize = 128;

/// Sets the value of a fragment at its path in the arguments of a call, such as `$.orders[0].name`. Fragments of one
/// text are joined.
///
/// Returns `false` if the path is invalid, does not fit the values before it, or leads to an item beyond [`MAX_ITEMS`].
pub(super) fn set(arguments: &mut Value, piece: PartialArgument) -> bool {
    let Some(place) = steps(&piece.json_path).and_then(|steps| find(arguments, &steps)) else {
        return false;
    };
    match (place, piece) {
        (
            Value::String(text),
            PartialArgument {
                string_value: Some(more),
                ..
            },
        ) => text.push_str(&more),
        (
            place,
            PartialArgument {
                string_value: Some(text),
                ..
            },
        ) => *place = text.into(),
        (
            place,
            PartialArgument {
                number_value: Some(number),
                ..
            },
        ) => *place = number,
        (
            place,
            PartialArgument {
                bool_value: Some(flag),
                ..
            },
        ) => *place = flag.into(),
        (place, _) => *place = Value::Null,
    }
    true
}

#[derive(Debug, PartialEq)]
enum Step<'a> {
    Field(&'a str),
    Item(usize),
}

/// Returns the steps of a path such as `$.orders[0].name`; `None` if it is invalid.
fn steps(path: &str) -> Option<Vec<Step<'_>>> {
    let mut rest = path.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let step;
        (step, rest) = match rest.strip_prefix('.') {
            Some(field) => {
                let end = field.find(['.', '[']).unwrap_or(field.len());
                (Step::Field(&field[..end]), &field[end..])
            }
            None => {
                let inner = rest.strip_prefix('[')?;
                let quote = inner
                    .chars()
                    .next()
                    .filter(|first| matches!(first, '\'' | '"'));
                match quote {
                    Some(quote) => {
                        let (field, after) = inner[1..].split_once(quote)?;
                        (Step::Field(field), after.strip_prefix(']')?)
                    }
                    None => {
                        let (index, after) = inner.split_once(']')?;
                        (Step::Item(index.parse().ok()?), after)
                    }
                }
            }
        };
        steps.push(step);
        if steps.len() > MAX_DEPTH {
            return None;
        }
    }
    Some(steps)
}

/// Returns the place in the arguments that the steps lead to, and creates what is missing on the way; `None` if other
/// values are in the way, or if a list would be longer than [`MAX_ITEMS`].
fn find<'a>(arguments: &'a mut Value, steps: &[Step<'_>]) -> Option<&'a mut Value> {
    let mut place = arguments;
    for step in steps {
        place = match step {
            Step::Field(name) => {
                if place.is_null() {
                    *place = Value::Object(Map::new());
                }
                place.as_object_mut()?.entry(*name).or_insert(Value::Null)
            }
            Step::Item(index) => {
                if place.is_null() {
                    *place = Value::Array(Vec::new());
                }
                let items = place.as_array_mut()?;
                if *index >= MAX_ITEMS {
                    return None;
                }
                if items.len() <= *index {
                    items.resize(index + 1, Value::Null);
                }
                &mut items[*index]
            }
        };
    }
    Some(place)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::{PartialArgument, Value, set};
    use serde_json::json;

    fn build(pieces: &[(&str, Value)]) -> Option<Value> {
        let mut arguments = json!({});
        for (path, value) in pieces {
            let piece = PartialArgument {
                json_path: (*path).to_owned(),
                string_value: value.as_str().map(str::to_owned),
                number_value: value.is_number().then(|| value.clone()),
                bool_value: value.as_bool(),
            };
            if !set(&mut arguments, piece) {
                return None;
            }
        }
        Some(arguments)
    }

    #[test]
    fn values_find_their_places() {
        let pieces = [
            ("$.name", json!("Bos")),
            ("$.name", json!("ton")),
            ("$.orders[0].price", json!(0.5)),
            ("$.orders[1]['a.b']", json!(true)),
            ("$.orders[0].none", json!(null)),
            ("$.name", json!("")),
        ];
        let expect = json!({
            "name": "Boston",
            "orders": [{ "price": 0.5, "none": null }, { "a.b": true }],
        });
        assert_eq!(build(&pieces), Some(expect));
    }

    #[test]
    fn paths_that_lead_nowhere() {
        let deep = format!("${}", ".a".repeat(1_000));
        for path in [
            "name",
            "$name",
            "$[x]",
            "$[",
            "$['a",
            "$.a[99999999999]",
            "$.a[1000000]",
            &*deep,
        ] {
            assert_eq!(build(&[(path, json!("x"))]), None, "{path}");
        }
        assert_eq!(build(&[("$.a", json!("x")), ("$.a.b", json!("y"))]), None);
        assert_eq!(build(&[("$.a", json!("x")), ("$.a[0]", json!("y"))]), None);
    }
}
