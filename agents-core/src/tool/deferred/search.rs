//! The tool that searches deferred tools: it compares words, so that one query finds the same tools on any machine.

use super::{
    super::{Category, Effects, FnTool, Pattern, SharedTool, ToolContext, ToolSpec},
    SEARCH,
    loaded::{Found, FoundTool},
    wording,
};
use serde_json::{Value, json};
use std::{collections::BTreeSet, sync::Arc};

/// Maximum number of tools that one search loads.
const MOST_FOUND: usize = 5;
/// Maximum number of further matches that a search names.
const MOST_NAMED: usize = 10;
/// Maximum length of a description in the result of a search, in characters. The declaration has all of it.
const LONGEST_DESCRIPTION: usize = 200;
/// Maximum number of names that the description of the search lists, and of groups if there are more names.
const MOST_LISTED: usize = 40;
const MOST_GROUPS: usize = 20;
/// Weights of a word of the query: it is the whole name, a word of the name, or a word of the other texts.
const WHOLE: u32 = 100;
const IN_NAME: u32 = 4;
const IN_TEXT: u32 = 1;
/// Words that tell no tool from another.
const EMPTY_WORDS: [&str; 24] = [
    "a", "an", "and", "by", "can", "do", "for", "from", "how", "i", "in", "is", "it", "me", "my",
    "of", "on", "or", "the", "to", "tool", "tools", "use", "with",
];

/// Returns the tool that searches these tools. Sources that have not listed their tools yet are told by their patterns.
pub(super) fn tool(later: Vec<SharedTool>, to_list: &[Pattern]) -> SharedTool {
    let known = (!later.is_empty()).then(|| listed(later.iter().map(|tool| tool.spec())));
    let to_list = to_list.iter().map(|names| format!("`{names}`"));
    let all: Vec<_> = known.into_iter().chain(to_list).collect();
    let described = wording::description(&all.join(", "));
    let query = json!({ "type": "string", "description": wording::QUERY });
    let schema =
        json!({ "type": "object", "properties": { "query": query }, "required": ["query"] });
    let spec = ToolSpec::new(SEARCH, described, Effects::None, schema)
        .category(Category::Search)
        .innate();
    let later: Arc<[SharedTool]> = later.into();
    Arc::new(FnTool::with_spec(spec, move |args: Value, cx| {
        let later = later.clone();
        async move {
            let offered = later.iter().map(|tool| tool.spec());
            let offered: Vec<_> = offered.filter(|spec| may_offer(spec, &cx)).collect();
            search(args["query"].as_str().unwrap_or_default(), &offered)
        }
    }))
}

/// Returns `false` for a tool that is blocked, or that a policy of the run withholds.
fn may_offer(spec: &ToolSpec, cx: &ToolContext) -> bool {
    let policies = &cx.run().root.settings.executor.policies;
    spec.status.blocked().is_none() && !policies.withhold(spec)
}

/// Returns the tools that match best. An `Err` tells the model why nothing can be searched.
fn search(query: &str, offered: &[&ToolSpec]) -> Result<Found, &'static str> {
    let query = Query::new(query);
    if query.words.is_empty() && query.names.is_empty() {
        return Err(wording::NO_QUERY);
    }
    let scores = offered.iter().map(|spec| (query.score(spec), *spec));
    let mut found: Vec<_> = scores.filter(|(score, _)| *score > 0).collect();
    // The sort is stable: equal matches stay in the order of the agent's list.
    found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    let best = found.first().map_or(0, |(score, _)| *score);
    // A tool that shares one word of many with the query is hardly meant.
    found.retain(|(score, _)| score.saturating_mul(2) > best);
    let rest = found.iter().skip(MOST_FOUND);
    let rest: Vec<_> = rest.map(|(_, spec)| format!("`{}`", spec.name)).collect();
    let note = match (found.is_empty(), rest.is_empty()) {
        (true, _) => Some(wording::nothing_found(&listed(offered.iter().copied()))),
        (_, true) => None,
        (_, false) => Some(wording::more_match(&first(&rest, MOST_NAMED))),
    };
    let best = found.into_iter().take(MOST_FOUND);
    let loaded = best.map(|(_, spec)| FoundTool {
        name: spec.name.to_string(),
        description: shortened(&spec.description),
    });
    Ok(Found {
        loaded: loaded.collect(),
        note,
    })
}

/// Words and names for which a model searches.
struct Query {
    words: BTreeSet<String>,
    /// Parts of the query that may be whole names.
    names: BTreeSet<String>,
}

impl Query {
    fn new(text: &str) -> Self {
        let words = words(text);
        let is_part = |sign: char| sign.is_alphanumeric() || "_-.@/".contains(sign);
        let names = text.split(|sign| !is_part(sign));
        let names = names.map(|name| name.trim_matches(['.', '/', '-']));
        Query {
            words: words
                .into_iter()
                .filter(|word| !EMPTY_WORDS.contains(&&**word))
                .collect(),
            names: names
                .filter(|name| name.contains(['_', '-', '.', '/']))
                .map(str::to_lowercase)
                .collect(),
        }
    }

    /// Returns how well a tool matches; 0 if it does not.
    fn score(&self, spec: &ToolSpec) -> u32 {
        let whole = self.names.contains(&spec.name.to_lowercase());
        let mut score = if whole { WHOLE } else { 0 };
        let in_name = words(&spec.name);
        let mut in_text = words(&spec.description);
        let arguments = spec.input_schema.get("properties");
        let arguments = arguments.and_then(Value::as_object).into_iter().flatten();
        in_text.extend(arguments.flat_map(|(name, _)| words(name)));
        for word in &self.words {
            let is_in = |of: &BTreeSet<String>| of.iter().any(|own| is_like(word, own));
            if is_in(&in_name) {
                score += IN_NAME;
            } else if is_in(&in_text) {
                score += IN_TEXT;
            }
        }
        score
    }
}

/// Returns the words of a text in lower case. A name in camel case is several words.
fn words(text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    let mut word = String::new();
    let mut was_small = false;
    for sign in text.chars() {
        let is_new = !sign.is_alphanumeric() || (was_small && sign.is_uppercase());
        if is_new && !word.is_empty() {
            words.insert(std::mem::take(&mut word));
        }
        if sign.is_alphanumeric() {
            word.extend(sign.to_lowercase());
        }
        was_small = sign.is_lowercase() || sign.is_numeric();
    }
    if !word.is_empty() {
        words.insert(word);
    }
    words
}

/// Returns `true` if two words are the same up to an ending: `issue` and `issues`. A script without spaces has no
/// words, so that a part of the text is enough.
fn is_like(word: &str, own: &str) -> bool {
    let (short, long) = match word.len() <= own.len() {
        true => (word, own),
        false => (own, word),
    };
    let begins = || short.len() >= 4 && long.len() - short.len() <= 3 && long.starts_with(short);
    word == own || begins() || (!word.is_ascii() && own.contains(word))
}

/// Returns the names of tools in backticks, or the groups of them if there are many: the names with the same first word.
fn listed<'t>(specs: impl Iterator<Item = &'t ToolSpec>) -> String {
    let names: Vec<_> = specs.map(|spec| &*spec.name).collect();
    if names.len() <= MOST_LISTED {
        let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
        return quoted.join(", ");
    }
    let mut groups: Vec<(&str, usize)> = Vec::new();
    for name in &names {
        let end = name
            .find(['_', '-', '.', '/'])
            .map_or(name.len(), |at| at + 1);
        match groups.iter_mut().find(|(group, _)| *group == &name[..end]) {
            Some((_, count)) => *count += 1,
            None => groups.push((&name[..end], 1)),
        }
    }
    let (shown, rest) = groups.split_at(groups.len().min(MOST_GROUPS));
    let shown = shown.iter().map(|(group, count)| match count {
        1 => {
            let name = names.iter().find(|name| name.starts_with(group));
            format!("`{}`", name.unwrap_or(group))
        }
        _ => wording::group(&format!("{group}*"), *count),
    });
    let rest: usize = rest.iter().map(|(_, count)| count).sum();
    let others = (rest > 0).then(|| wording::and_others(rest));
    shown.chain(others).collect::<Vec<_>>().join(", ")
}

/// Joins the first `most` names, and tells how many more there are.
fn first(names: &[String], most: usize) -> String {
    let (shown, rest) = names.split_at(names.len().min(most));
    let others = (!rest.is_empty()).then(|| wording::and_others(rest.len()));
    let shown: Vec<_> = shown.iter().cloned().chain(others).collect();
    shown.join(", ")
}

/// Returns a description in one line, cut after a whole character.
fn shortened(description: &str) -> String {
    let line = description.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST_DESCRIPTION) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests;
