//! An error and what caused it, in words.

use super::plain::plain;
use std::error::Error;

/// An error that is its own cause would be told for ever.
const MOST_CAUSES: usize = 32;

/// The texts of what caused an error, the nearest first, without those that the error before quotes: most messages
/// quote what caused them.
pub(crate) fn causes(error: &(dyn Error + 'static), mut said: String) -> Vec<String> {
    let mut causes = Vec::new();
    let mut cause = error.source();
    for _ in 0..MOST_CAUSES {
        let Some(error) = cause else { break };
        let text = error.to_string();
        // One of the two may have spelled out what the other has as it came.
        if !plain(&said).contains(&*plain(&text)) {
            causes.push(text.clone());
        }
        said = text;
        cause = error.source();
    }
    causes
}

/// The text of an error and of what caused it, the innermost last.
pub(crate) fn chain(error: &(dyn Error + 'static)) -> String {
    let mut said = error.to_string();
    for cause in causes(error, said.clone()) {
        said.push_str(": ");
        said.push_str(&cause);
    }
    said
}

#[cfg(test)]
mod tests {
    use super::chain;
    use std::{error::Error, fmt, io};

    #[derive(Debug)]
    struct Quotes(&'static str, io::Error);

    impl fmt::Display for Quotes {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl Error for Quotes {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&self.1)
        }
    }

    #[test]
    fn each_cause_is_told_once() {
        let disk = || io::Error::other("disk on fire");
        assert_eq!(
            chain(&Quotes("cannot load", disk())),
            "cannot load: disk on fire"
        );
        let quoted = "cannot load: disk on fire";
        assert_eq!(chain(&Quotes(quoted, disk())), quoted);
    }
}
