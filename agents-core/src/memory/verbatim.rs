//! A memory is for what an agent has learnt, not for what its tools have said: that belongs to whoever
//! keeps it, and may be gone or secret tomorrow.

use std::collections::HashSet;

/// How many words in a row are compared.
const RUN: usize = 3;

/// What has fewer words is a fact, whoever has said it first.
const FEWEST: usize = 6;

/// What is as long as this and in one piece is no fact: a key, a document in base64.
const LONGEST_WORD: usize = 32;

/// The tool whose output is repeated here word for word, all of it or a line of it; `outputs` are the names of tools
/// and what they gave.
pub(super) fn repeated<'o>(
    content: &str,
    outputs: impl Iterator<Item = (&'o str, &'o str)>,
) -> Option<&'o str> {
    let texts: Vec<_> = std::iter::once(content).chain(content.lines()).collect();
    let texts: Vec<_> = texts.into_iter().map(words).collect();
    let long = |word: &&String| word.len() >= LONGEST_WORD;
    outputs
        .into_iter()
        .find(|(_, output)| {
            let output = words(output);
            let runs: HashSet<_> = output.windows(RUN).collect();
            let known: HashSet<_> = output.iter().filter(long).collect();
            texts.iter().any(|text| {
                is_mostly(text, &runs) || text.iter().filter(long).any(|word| known.contains(word))
            })
        })
        .map(|(tool, _)| tool)
}

/// Whether half of what is said is said there, in the same words.
fn is_mostly(text: &[String], runs: &HashSet<&[String]>) -> bool {
    let own = text.windows(RUN);
    let (all, same) = (own.len(), own.filter(|run| runs.contains(run)).count());
    text.len() >= FEWEST && same * 2 >= all
}

/// Neither case nor punctuation makes a difference.
fn words(text: &str) -> Vec<String> {
    let parts = text.split(|letter: char| !letter.is_alphanumeric());
    let words = parts.filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: &str = "Refunds above 100 EUR need a second signature, and the reason has to be one of the list.\n\
        {\"customer\": \"ACME\", \"iban\": \"DE02120300000000202051\", \"note\": \"pays late\"}";

    fn refused(content: &str) -> bool {
        repeated(content, [("rule", RULE)].into_iter()).is_some()
    }

    #[test]
    fn what_was_read_is_not_remembered_and_what_was_learnt_is() {
        for pasted in [
            RULE,
            "refunds above 100 EUR need a second signature",
            "The rule: refunds above 100 EUR need a second signature!",
            "- Looked at rules\n- and the reason has to be one of the list",
            r#"{"customer":"ACME","iban":"DE02120300000000202051","note":"pays late"}"#,
        ] {
            assert!(refused(pasted), "{pasted}");
        }
        for learnt in [
            "The operator asked about refunds of ACME.",
            "ACME pays late",
            "Large refunds are a matter for two people; the rule says why.",
            "Looked at the rule for refunds on Monday, nothing was wrong with it",
            "",
        ] {
            assert!(!refused(learnt), "{learnt}");
        }
        let key = "a".repeat(40);
        assert!(repeated(&key, [("key", &*format!("it is {key}."))].into_iter()).is_some());
    }
}
