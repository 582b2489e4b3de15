//! Names of types, and names on the wire.

use syn::{Ident, LitStr, ext::IdentExt};

/// Returns an identifier as text, without `r#`.
pub(crate) fn plain(ident: &Ident) -> String {
    ident.unraw().to_string()
}

/// Tells whether an identifier is one of these words.
pub(crate) fn is_one_of(ident: &Ident, words: &[&str]) -> bool {
    words.iter().any(|word| ident == word)
}

/// Returns the name in `name = "web_search"`, at its place; `None` if the name has a capital, or if no Rust function
/// could have it.
pub(crate) fn written(text: &LitStr) -> Option<Ident> {
    let is_lower = !text.value().contains(char::is_uppercase);
    text.parse().ok().filter(|_| is_lower)
}

/// Returns the name of the type that is generated for a function, at the same place: `ReadFile` for `read_file`.
pub(crate) fn type_name(function: &Ident) -> Ident {
    let plain = plain(function);
    let mut name: String = plain.split('_').map(capitalised).collect();
    if !name.starts_with(|first: char| first.is_alphabetic()) {
        name.insert(0, '_');
    }
    if name == "Self" {
        name.push('_');
    }
    Ident::new(&name, function.span())
}

/// Types, traits and variants that are in scope everywhere, by the prelude of std or that of `agents`. Code written by
/// hand or by macros means these by their names. Traits of std, such as `Send`, are not listed: the words for them are
/// good names of tools.
const IN_SCOPE: &[&str] = &[
    "Box",
    "Err",
    "None",
    "Ok",
    "Option",
    "Result",
    "Some",
    "String",
    "Vec",
    "Agent",
    "AgentBuilder",
    "Budget",
    "Error",
    "Model",
    "Outcome",
    "Tool",
    "ToolContext",
    "ToolFailure",
];

/// Tells whether a generated type of this name would hide a common type, such as `Error`.
pub(crate) fn hides_another(ty: &Ident) -> bool {
    is_one_of(ty, IN_SCOPE)
}

/// Returns the name for models of an agent with this type: `file_manager` for `FileManager`, and `http_client` for
/// `HTTPClient`.
pub(crate) fn wire_name(ty: &Ident) -> String {
    let letters: Vec<char> = plain(ty).chars().collect();
    let mut name = String::new();
    for (i, letter) in letters.iter().enumerate() {
        let after_lower = i > 0 && !letters[i - 1].is_uppercase() && letters[i - 1] != '_';
        let before_lower = i > 0
            && letters[i - 1].is_uppercase()
            && letters.get(i + 1).is_some_and(|next| next.is_lowercase());
        if letter.is_uppercase() && (after_lower || before_lower) {
            name.push('_');
        }
        name.extend(letter.to_lowercase());
    }
    name
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    let mut name = String::new();
    if let Some(first) = letters.next() {
        name.extend(first.to_uppercase());
    }
    name + letters.as_str()
}
