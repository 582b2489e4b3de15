use serde::{Deserialize, Serialize};
use std::{borrow::Cow, fmt};

/// A pattern for tool names, in which `*` stands for any text, also the empty one. All other characters stand for
/// themselves.
///
/// ```
/// # use agents_core as agents;
/// use agents::tool::Pattern;
///
/// let github = Pattern::new("github_*");
/// assert!(github.matches("github_create_issue"));
/// assert!(!github.matches("gitlab_create_issue"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pattern(Cow<'static, str>);

impl Pattern {
    /// Creates a pattern; without `*` it matches one name alone.
    pub fn new(pattern: impl Into<Cow<'static, str>>) -> Self {
        Pattern(pattern.into())
    }

    /// Returns the pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns `true` if the pattern has no `*` and matches one name alone.
    pub(crate) fn is_name(&self) -> bool {
        !self.0.contains('*')
    }

    /// Returns `true` if the pattern matches this name; the comparison is case-sensitive.
    pub fn matches(&self, name: &str) -> bool {
        let Some((first, rest)) = self.0.split_once('*') else {
            return self.0 == name;
        };
        let Some(mut name) = name.strip_prefix(first) else {
            return false;
        };
        let mut parts: Vec<&str> = rest.split('*').collect();
        // The part after the last star must end the name. A part between stars may match at its first place: an
        // earlier match leaves more for the next parts.
        let last = parts.pop().unwrap_or_default();
        for part in parts {
            match name.find(part) {
                Some(at) => name = &name[at + part.len()..],
                None => return false,
            }
        }
        name.ends_with(last)
    }

    /// Returns `true` if this pattern matches every name that `other` matches. A `*` of `other` has to be within a
    /// `*` of this pattern.
    pub(crate) fn covers(&self, other: &Pattern) -> bool {
        self.matches(&other.0)
    }

    /// Returns `true` if a name may match both patterns. Only what is before the first `*` and behind the last is
    /// compared, so that `true` may be wrong, and `false` is not.
    pub(crate) fn overlaps(&self, other: &Pattern) -> bool {
        match (self.is_name(), other.is_name()) {
            (true, _) => other.matches(&self.0),
            (_, true) => self.matches(&other.0),
            (false, false) => {
                let (first, last) = self.ends();
                let (other_first, other_last) = other.ends();
                (first.starts_with(other_first) || other_first.starts_with(first))
                    && (last.ends_with(other_last) || other_last.ends_with(last))
            }
        }
    }

    /// Returns the text of the pattern before its first `*`, and the text behind the last.
    fn ends(&self) -> (&str, &str) {
        let first = self.0.split('*').next();
        let last = self.0.rsplit('*').next();
        (first.unwrap_or_default(), last.unwrap_or_default())
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&'static str> for Pattern {
    fn from(pattern: &'static str) -> Self {
        Pattern::new(pattern)
    }
}

impl From<String> for Pattern {
    fn from(pattern: String) -> Self {
        Pattern::new(pattern)
    }
}

impl From<&String> for Pattern {
    fn from(pattern: &String) -> Self {
        Pattern::new(pattern.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;
    use proptest::prelude::*;

    #[test]
    fn stars_stand_for_any_text() {
        for (pattern, name, wanted) in [
            ("read", "read", true),
            ("read", "read_file", false),
            ("Read", "read", false),
            ("", "", true),
            ("*", "", true),
            ("*", "anything", true),
            ("github_*", "github_", true),
            ("github_*", "github_create", true),
            ("github_*", "my_github_create", false),
            ("*_delete", "github_delete", true),
            ("*_delete", "github_deleted", false),
            ("a*a", "a", false),
            ("a*a", "aa", true),
            ("a*b*c", "a_b_b_c", true),
            ("a*b*c", "a_c_b", false),
            ("a**c", "abc", true),
            ("*é*", "café_au_lait", true),
        ] {
            assert_eq!(
                Pattern::new(pattern).matches(name),
                wanted,
                "{pattern} {name}"
            );
        }
    }

    #[test]
    fn a_pattern_covers_what_is_narrower() {
        let covers = |a: &'static str, b: &'static str| Pattern::new(a).covers(&Pattern::new(b));
        assert!(covers("mcp_*", "mcp_file_*") && covers("mcp_*", "mcp_*") && covers("*", "a*b"));
        assert!(
            !covers("mcp_file_*", "mcp_*") && !covers("mcp_a", "mcp_*") && !covers("a*b", "a*")
        );
    }

    #[test]
    fn patterns_overlap_if_a_name_may_match_both() {
        let overlaps = |a: &'static str, b: &'static str| {
            let (a, b) = (Pattern::new(a), Pattern::new(b));
            assert_eq!(a.overlaps(&b), b.overlaps(&a));
            a.overlaps(&b)
        };
        assert!(overlaps("github_*", "github_search") && overlaps("github_*", "*"));
        assert!(overlaps("github_*", "github_get_*") && overlaps("github_*", "*_delete"));
        assert!(!overlaps("github_*", "gitlab_*") && !overlaps("*_read", "*_write"));
        assert!(!overlaps("github_*", "github") && overlaps("a", "a") && !overlaps("a", "b"));
    }

    /// Returns the result that `Pattern::matches` has to have, computed by a simple recursion, one character at a time.
    fn slowly(pattern: &[u8], name: &[u8]) -> bool {
        match (pattern.split_first(), name.split_first()) {
            (None, rest) => rest.is_none(),
            (Some((b'*', after)), rest) => {
                slowly(after, name) || rest.is_some_and(|(_, rest)| slowly(pattern, rest))
            }
            (Some((letter, after)), Some((first, rest))) => letter == first && slowly(after, rest),
            (Some(_), None) => false,
        }
    }

    proptest! {
        #[test]
        fn the_first_fit_serves(pattern in "[ab*]{0,8}", name in "[ab]{0,8}") {
            let wanted = slowly(pattern.as_bytes(), name.as_bytes());
            prop_assert_eq!(Pattern::new(pattern).matches(&name), wanted);
        }

        #[test]
        fn two_patterns_of_one_name_overlap(a in "[ab*]{0,6}", b in "[ab*]{0,6}", name in "[ab]{0,8}") {
            let (a, b) = (Pattern::new(a), Pattern::new(b));
            prop_assert!(!(a.matches(&name) && b.matches(&name)) || a.overlaps(&b));
        }
    }
}
