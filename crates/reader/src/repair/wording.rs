//! Texts of repairs: errors, which models are told, then notes on changes, which receipts have.

// ---- what is wrong ----

pub(crate) const VALUE_EXPECTED: &str = "a value was expected here";
pub(crate) const KEY_EXPECTED: &str = "a key was expected here";
pub(crate) const BACKSLASH_IN_BARE: &str = "a backslash stands in text without quotes";
pub(crate) const MARK_IN_BARE: &str = "a mark of JSON stands in text without quotes";
pub(crate) const WRONG_BRACKET: &str = "closing bracket of the wrong sort";
pub(crate) const BRACKET_TOO_EARLY: &str = "closing bracket too early";
pub(crate) const SOME_QUOTED: &str = "some elements have quotes, and others none";
pub(crate) const HEX_EXPECTED: &str = "`\\u` needs four hexadecimal digits";
pub(crate) const KEY_WITHOUT_VALUE: &str = "a key has no value; write `\"key\": value`";
pub(crate) const QUOTE_MISSING: &str =
    "a quote is missing, or one too many; escape quotes inside strings";
pub(crate) const QUOTE_UNPAIRED: &str = "a quote inside a string has no other half";
pub(crate) const CONTROL: &str = "a control character stands in a string; escape or remove it";
pub(crate) const TRIPLE_UNCLOSED: &str = "a triple quote is never closed";

// ==== notes on changes ====

// ---- strings ----

pub(crate) const CONSTRUCTOR: &str = "text taken out of a constructor";
pub(crate) const PREFIX: &str = "prefix of a string dropped";
pub(crate) const LITERAL: &str = "literal of another language";
pub(crate) const QUOTE_OPENED: &str = "opening quote added";
pub(crate) const QUOTE_CLOSED: &str = "closing quote added";
pub(crate) const QUOTES_DOUBLED: &str = "quotes made double";
pub(crate) const JOINED: &str = "joined strings made one";
pub(crate) const QUOTE_ESCAPED: &str = "quote inside a string escaped";
pub(crate) const PATH_ESCAPED: &str = "backslashes of a path escaped";
pub(crate) const CONTROL_ESCAPED: &str = "raw control character escaped";
pub(crate) const LINE_BREAK_DROPPED: &str = "line break before the closing quote dropped";
pub(crate) const STRING_ENDED: &str = "the text ended inside a string, which was closed";

// ---- escapes ----

pub(crate) const ESCAPE_DROPPED: &str = "unfinished escape dropped";
pub(crate) const HEX_ESCAPE: &str = "`\\x` escape rewritten";
pub(crate) const HALF_PAIR: &str = "half a surrogate pair replaced";
pub(crate) const BACKSLASH_ESCAPED: &str = "backslash escaped";
pub(crate) const BACKSLASH_DROPPED: &str = "needless backslash dropped";

// ---- keys ----

pub(crate) const KEY_QUOTED: &str = "quotes added to a key";
pub(crate) const LIST_MARK: &str = "mark of a list item dropped";
pub(crate) const WALRUS: &str = "`:=` read as a colon";
pub(crate) const EQUALS: &str = "`=` read as a colon";
pub(crate) const COLON_ADDED: &str = "colon added";
pub(crate) const KEY_ENDED: &str = "text ended inside a key, which was dropped";

// ---- brackets and commas ----

pub(crate) const TRAILING_COMMA: &str = "trailing comma dropped";
pub(crate) const STRAY_COMMA: &str = "stray comma dropped";
pub(crate) const BRACKET_ADDED: &str = "closing bracket added";
pub(crate) const PARENTHESIS_ADDED: &str = "closing parenthesis added";
pub(crate) const ENDED_IN_VALUE: &str = "the text ended, perhaps inside a value";
pub(crate) const ENDED_PERHAPS: &str = "the text ended, and there may have been more of it";
pub(crate) const ENDED_EARLY: &str = "the text ended early and was closed";
pub(crate) const SPACE_DROPPED: &str = "white space JSON does not know left out";
pub(crate) const COMMENT_DROPPED: &str = "comment dropped";
