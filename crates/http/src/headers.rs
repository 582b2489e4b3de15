use crate::{TransportError, wording};
use http::header::{HeaderMap, HeaderName, HeaderValue};
use std::fmt;

/// Headers that a client sends with every request: [`Server::new`](crate::Server::new) takes them. `Debug` hides their
/// values.
///
/// ```
/// let mut headers = agents_http::Headers::default();
/// headers.set("authorization", "Bearer hunter2");
/// assert_eq!(format!("{headers:?}"), "[authorization: ***]");
/// ```
#[derive(Clone, Default, PartialEq)]
pub struct Headers(Vec<(String, String)>);

impl Headers {
    /// Sets a header. An earlier header of the same name, in upper or lower case, is replaced.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        let (name, value) = (name.into(), value.into());
        self.0.retain(|(held, _)| !held.eq_ignore_ascii_case(&name));
        self.0.push((name, value));
    }

    /// Sets all headers of `others` in this list. Earlier headers of the same names are replaced.
    pub fn extend(&mut self, others: &Headers) {
        for (name, value) in &others.0 {
            self.set(name, value);
        }
    }

    /// Returns `true` if a header with this name is set.
    pub fn has(&self, name: &str) -> bool {
        self.0
            .iter()
            .any(|(held, _)| held.eq_ignore_ascii_case(name))
    }

    /// Returns `true` if there are no headers.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Sets the headers of this list in a request. Each of them replaces all headers of the request that have its name.
    pub(crate) fn add_to(&self, map: &mut HeaderMap) -> Result<(), TransportError> {
        for (name, value) in &self.0 {
            let wrong = || TransportError::Setup(wording::no_header(name));
            let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
            let mut value = HeaderValue::from_str(value).map_err(|_| wrong())?;
            value.set_sensitive(true);
            map.insert(key, value);
        }
        Ok(())
    }
}

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.0.iter().map(|(name, _)| format!("{name}: ***"));
        f.debug_list().entries(shown.map(Plain)).finish()
    }
}

/// A text that `Debug` shows without quotation marks.
struct Plain(String);

impl fmt::Debug for Plain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
