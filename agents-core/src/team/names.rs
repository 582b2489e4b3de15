//! Which tools are meant: by their names, or by a pattern where the names are known at run time alone.

use std::{borrow::Cow, fmt};

/// The name of a tool, or a pattern in which `*` stands for any letters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named(Cow<'static, str>);

impl<T: Into<Cow<'static, str>>> From<T> for Named {
    fn from(name: T) -> Self {
        Named(name.into())
    }
}

impl Named {
    pub(crate) fn is_pattern(&self) -> bool {
        self.0.contains('*')
    }

    /// Whether `tool` is meant.
    pub(crate) fn means(&self, tool: &str) -> bool {
        fits(&self.0, tool)
    }

    /// Whether every tool that `other` can mean is meant: a `*` of the other's has to be within one
    /// of these.
    pub(crate) fn covers(&self, other: &Named) -> bool {
        fits(&self.0, &other.0)
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether one of these means `tool`.
pub(crate) fn mean(names: &[Named], tool: &str) -> bool {
    names.iter().any(|name| name.means(tool))
}

fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let Some(last) = parts.next_back() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_anything() {
        for (pattern, text, expected) in [
            ("read", "read", true),
            ("read", "reads", false),
            ("", "", true),
            ("", "x", false),
            ("*", "", true),
            ("*", "anything", true),
            ("mcp_*", "mcp_", true),
            ("mcp_*", "mcp_a_b", true),
            ("mcp_*", "xmcp_a", false),
            ("*_read", "file_read", true),
            ("*_read", "file_read_all", false),
            ("a*a", "a", false),
            ("a*a", "aa", true),
            ("a*b*c", "aXbYc", true),
            ("a*b*c", "abc", true),
            ("a*b*c", "acb", false),
            ("a**c", "abc", true),
            ("ä*ö", "äxö", true),
        ] {
            assert_eq!(
                Named::from(pattern).means(text),
                expected,
                "{pattern} {text}"
            );
        }
    }

    #[test]
    fn a_pattern_covers_what_is_narrower() {
        let covers = |a: &'static str, b: &'static str| Named::from(a).covers(&Named::from(b));
        assert!(covers("mcp_*", "mcp_file_*") && covers("mcp_*", "mcp_*") && covers("*", "a*b"));
        assert!(
            !covers("mcp_file_*", "mcp_*") && !covers("mcp_a", "mcp_*") && !covers("a*b", "a*")
        );
    }
}
