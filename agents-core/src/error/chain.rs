//! Text of an error and of its sources.

use super::escape::plain;
use std::error::Error;

/// Maximum number of an error's sources that are followed: the chain of an error that is its own source never ends.
const MOST_CAUSES: usize = 32;

/// Returns the texts of an error's sources, the nearest first; `said` is the text of the error. A source whose text the
/// text before it contains is left out, as many messages quote their sources.
pub(crate) fn causes(error: &(dyn Error + 'static), mut said: String) -> Vec<String> {
    let mut causes = Vec::new();
    let mut cause = error.source();
    for _ in 0..MOST_CAUSES {
        let Some(error) = cause else { break };
        let text = error.to_string();
        // One of the two texts may have escaped characters that the other has unescaped.
        if !plain(&said).contains(&*plain(&text)) {
            causes.push(text.clone());
        }
        said = text;
        cause = error.source();
    }
    causes
}

/// Returns the text of an error and of its sources, the innermost last, with colons between them.
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
