//! Check for text that repeats the output of a tool. A memory is for what an agent has learnt, not for outputs:
//! these belong to their source, and may be gone or secret tomorrow.

use std::collections::HashSet;

/// Number of words in a row by which a text is compared with an output.
const RUN: usize = 3;

/// Minimum number of words of a text that counts as repeated: a shorter text is a fact, whoever said it first, unless
/// it has a word of [`LONGEST_WORD`] from an output.
const FEWEST: usize = 6;

/// Minimum length in bytes of a single word that counts as repeated: a key, or a document in base64, is not a
/// fact.
const LONGEST_WORD: usize = 32;

/// Returns the name of the first tool whose output `content` as a whole, or one of its lines, mostly repeats, or from
/// which `content` has a long word; `None` if there is no such tool. `outputs` are the names of tools with their
/// outputs.
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

/// Returns `true` if the text has at least six words, and at least half of its sequences of three words occur in an
/// output.
fn is_mostly(text: &[String], runs: &HashSet<&[String]>) -> bool {
    let own = text.windows(RUN);
    let (all, same) = (own.len(), own.filter(|run| runs.contains(run)).count());
    text.len() >= FEWEST && same * 2 >= all
}

/// Returns the words of a text in lower case, without punctuation, to compare texts.
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
    fn k5_what_was_read_is_not_remembered_and_what_was_learnt_is() {
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
