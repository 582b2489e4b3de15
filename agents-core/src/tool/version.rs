use std::{cmp::Ordering, fmt};

/// A version, ordered as people read it: `1.10.0` after `1.9.0`, `2.0.0-beta` before `2.0.0`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Version(String);

impl Version {
    pub(super) fn new(version: impl Into<String>) -> Self {
        Version(version.into())
    }

    /// Returns the version without its pre-release part, and that part if there is one. Build metadata is left out.
    fn parts(&self) -> (&str, Option<&str>) {
        // The part after a plus is build metadata and does not count in the order.
        let version = self.0.split('+').next().unwrap_or_default();
        match version.split_once('-') {
            // The rest of a date, as in `2024-05-01`, is not a pre-release part.
            Some((proper, before)) if !is_number(before.split('-').next().unwrap_or_default()) => {
                (proper, Some(before))
            }
            _ => (version, None),
        }
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let ((one, one_before), (two, two_before)) = (self.parts(), other.parts());
        let before = match (one_before, two_before) {
            (None, None) => Ordering::Equal,
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
            (Some(one), Some(two)) => by_pieces(one, two),
        };
        // Versions that are written differently are different versions.
        by_pieces(one, two)
            .then(before)
            .then_with(|| self.0.cmp(&other.0))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Compares two versions part by part; parts stand between dots and hyphens. Numbers are compared by their size and
/// come before words, words by their letters.
fn by_pieces(one: &str, two: &str) -> Ordering {
    let (mut one, mut two) = (one.split(['.', '-']), two.split(['.', '-']));
    loop {
        let order = match (one.next(), two.next()) {
            (None, None) => return Ordering::Equal,
            (one, two) => by_size(one.unwrap_or("0"), two.unwrap_or("0")),
        };
        if order.is_ne() {
            return order;
        }
    }
}

fn by_size(one: &str, two: &str) -> Ordering {
    match (is_number(one), is_number(two)) {
        (true, true) => {
            let (one, two) = (one.trim_start_matches('0'), two.trim_start_matches('0'));
            one.len().cmp(&two.len()).then_with(|| one.cmp(two))
        }
        (one_is, two_is) => two_is.cmp(&one_is).then_with(|| one.cmp(two)),
    }
}

fn is_number(piece: &str) -> bool {
    !piece.is_empty() && piece.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::Version;

    #[test]
    fn versions_are_ordered_as_people_read_them() {
        let ordered = [
            "0.9",
            "1.0.0-alpha",
            "1.0.0-alpha.2",
            "1.0.0-alpha.10",
            "1.0.0-rc.1",
            "1.0.0",
            "1.2",
            "1.9.0",
            "1.10.0",
            "2",
            "2024-05-01",
            "2024-11-01",
            "99999999999999999999999999",
        ];
        for pair in ordered.windows(2) {
            let [one, two] = [Version::new(pair[0]), Version::new(pair[1])];
            assert!(one < two, "{one} < {two}");
        }
        assert_ne!(Version::new("1.0"), Version::new("1.0.0"));
    }
}
