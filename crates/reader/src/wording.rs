//! Texts of the reader: errors, which models are told, then notes on changes, which receipts have.

use std::fmt::Display;

// ---- values that do not fit ----

pub(crate) const MISSING: &str = "required, and missing; add it";
pub(crate) const NOTHING_ALLOWED: &str = "no value is allowed here";
pub(crate) const SEVERAL_READINGS: &str =
    "this can be read in several ways; write the one that is meant";
pub(crate) const TWICE: &str = "the key stands twice with different values; keep one";
pub(crate) const SET: &str = "values in braces have no keys; write a list or name them";
pub(crate) const KEY_WITHOUT_VALUE: &str = "a key has no value; write one, or leave the key out";

/// Text of the error of a value with the wrong type. `expected` and `found` are a type, a choice or a value in words.
pub(crate) fn mismatch(expected: &impl Display, found: &impl Display) -> String {
    format!("expected {expected}, got {found}")
}

pub(crate) fn not_whole(found: &impl Display) -> String {
    mismatch(&"a whole number", found)
}

pub(crate) fn number_or_text(found: &impl Display) -> String {
    format!("{found} could be a number or a text; quote it or write a JSON number")
}

/// Text of the error of a value beyond a bound; `limit` is one of the limits below.
pub(crate) fn beyond(found: &impl Display, limit: &str) -> String {
    format!("{found} is {limit}")
}

/// Text of the error of a key that the schema does not have; `known` lists the keys of the schema.
pub(crate) fn unknown_key(found: &impl Display, known: &str) -> String {
    format!("unknown key {found}; {known}")
}

pub(crate) fn foreign_to_map(known: &str) -> String {
    format!("this map has no such key; {known}")
}

pub(crate) fn no_known_key(known: &str) -> String {
    format!("none of the keys is known; {known}")
}

// ---- limits ----

pub(crate) const TOO_SHORT: &str = "too short";
pub(crate) const TOO_LONG: &str = "too long";
pub(crate) const TOO_FEW_MEMBERS: &str = "too few members";
pub(crate) const TOO_MANY_MEMBERS: &str = "too many members";
pub(crate) const TOO_SMALL: &str = "too small";
pub(crate) const TOO_LARGE: &str = "too large";
pub(crate) const OTHER_FORM: &str = "not of the form the schema asks for";

// ---- texts that cannot be read ----

pub(crate) const BRACKETS_TOO_DEEP: &str = "brackets nest too deep; flatten the value";
pub(crate) const VALUES_TOO_DEEP: &str = "values nest too deep; flatten them";
pub(crate) const STRINGS_TOO_DEEP: &str =
    "JSON lies in strings in JSON too often; write it as it is";
pub(crate) const TOO_MUCH_WORK: &str = "the schema asks for too much work";
pub(crate) const TOO_MUCH_WORK_ON_VALUE: &str = "the schema asks for too much work on this value";
pub(crate) const TEXT_FOLLOWS: &str = "text follows the closing bracket; end there";
pub(crate) const ENDS_BEFORE_MEMBERS: &str =
    "the text ends before the first member; write the whole object";
pub(crate) const TOO_BROKEN: &str = "the object is too broken to be read; write it anew";

// ==== notes on changes ====

// ---- values ----

pub(crate) const WHOLE_NUMBER: &str = "whole number written without its fraction";
pub(crate) const ZERO_OR_ONE: &str = "0 or 1 read as a boolean";
pub(crate) const NUMBER_AS_STRING: &str = "number written as a string";
pub(crate) const NUMBER_AS_JSON: &str = "number written as JSON has it";
pub(crate) const NUMBER_IN_STRING: &str = "number in a string, written as JSON has it";
pub(crate) const NUMBER_UNQUOTED: &str = "number taken out of its quotes";
pub(crate) const BOOLEAN_UNQUOTED: &str = "boolean taken out of its quotes";
pub(crate) const NULL_UNQUOTED: &str = "null taken out of its quotes";
pub(crate) const QUOTES_ADDED: &str = "quotes added";
pub(crate) const NUMBERS_LISTED: &str = "numbers in a text made a list";
pub(crate) const NESTED_JSON: &str = "JSON in a string parsed";
pub(crate) const LITERAL: &str = "literal of another language";

// ---- shapes ----

pub(crate) const BRACES_MADE_BRACKETS: &str = "braces around a list made brackets";
pub(crate) const OUT_OF_LIST: &str = "taken out of a list of one";
pub(crate) const INTO_LIST: &str = "one value made a list of one";
pub(crate) const LIST_OF_LINES: &str = "lines of a Markdown list made a list";

// ---- keys ----

pub(crate) const SAID_TWICE: &str = "said twice, kept once";
pub(crate) const NO_VALUE_LEFT_OUT: &str = "left out, since it has no value";
pub(crate) const UNKNOWN_LEFT_OUT: &str = "left out, since the schema does not know it";
pub(crate) const ENVELOPE_LEFT_OUT: &str =
    "left out, and may hold arguments that belong to those beside it";
pub(crate) const MAP_MAY_BE_OPEN: &str =
    "a bracket is missing, and this may belong to an object around the map";

// ---- the text around a value ----

pub(crate) const LOST: &str = "text beside the value was dropped, and may belong to it";
pub(crate) const BEST_OF_SEVERAL: &str = "taken as the best of several values in the text";
pub(crate) const IN_SPITE_OF_NOT: &str = "taken although the text before it has a `not`";
pub(crate) const LITTER: &str = "stray characters around the value dropped";
pub(crate) const OUT_OF_FENCE: &str = "taken out of a fence";
pub(crate) const OUT_OF_TAGS: &str = "taken out of tags";
pub(crate) const OUT_OF_CALL: &str = "taken out of a call";
pub(crate) const OUT_OF_PROSE: &str = "taken out of the text around it";
pub(crate) const ONE_LAYER_UNESCAPED: &str = "one layer of escapes taken off";

// ---- notes with the text that was read ----

pub(crate) fn number_in(text: &impl Display) -> String {
    format!("number taken out of {text}")
}

pub(crate) fn boolean_in(text: &impl Display) -> String {
    format!("boolean taken out of {text}")
}

pub(crate) fn read_as(text: &impl Display, value: &impl Display) -> String {
    format!("{text} read as {value}")
}

pub(crate) fn out_of(key: &str) -> String {
    format!("taken out of {key}")
}

pub(crate) fn into_the_only_field(field: &str) -> String {
    format!("put into the only field `{field}`")
}

pub(crate) fn beside_wrapper(wrapper: &str) -> String {
    format!("left out: it stands beside {wrapper}")
}

pub(crate) fn default_of_schema(default: &str) -> String {
    format!("{default}, the default of the schema")
}

/// Text of the change of a text that broke off; `next` is the key, or the kind of key, that is lacking.
pub(crate) fn more_to_come(next: &str) -> String {
    format!("the text ended, and {next} may have been to come")
}

pub(crate) fn left_over(key: &str) -> String {
    format!("the value of {key}, the one key that was left over")
}

pub(crate) fn renamed(key: &str) -> String {
    format!("renamed from {key}")
}
