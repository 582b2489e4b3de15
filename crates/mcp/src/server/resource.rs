use super::content;
use agents_core::model::Content;
use rmcp::model::{self, ReadResourceResult, ResourceTemplate};
use std::{collections::BTreeMap, fmt, future::Future, pin::Pin, sync::Arc};

/// Values that a host has put in the place of the variables of a URI, by name.
pub type Variables = BTreeMap<String, String>;

type Read = dyn Fn(Variables) -> Pin<Box<dyn Future<Output = Result<Content, String>> + Send>>
    + Send
    + Sync;

/// A text or a file that hosts can read, at a URI of the server's own.
///
/// ```
/// use agents_mcp as mcp;
/// use std::io;
///
/// let style = mcp::Resource::new("notes://style", "style", |_| async { Ok::<_, io::Error>("One line a change.") })
///     .description("How release notes are written here.");
/// // All notes at once: hosts put a value in the place of `{day}`.
/// let days = mcp::Resource::new("notes://{day}/note", "note", |vars| async move {
///     let day = &vars["day"];
///     // A part of a path must not lead out of its folder.
///     if !day.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
///         return Err(io::Error::other(format!("`{day}` is no day")));
///     }
///     tokio::fs::read_to_string(format!("notes/{day}.md")).await
/// })
/// .media_type("text/markdown");
/// let server = mcp::serve().resource(style).resource(days);
/// # let _ = server;
/// ```
#[derive(Clone)]
#[must_use = "a resource is offered by a server: `serve().resource(..)`"]
pub struct Resource {
    uri: String,
    name: String,
    description: Option<String>,
    media_type: Option<String>,
    read: Arc<Read>,
}

impl Resource {
    /// Creates a resource that `read` reads each time a host asks for it.
    ///
    /// A `{name}` in the URI stands for any text that has no slash and is not empty. Such a URI is a template, and
    /// `read` gets the values. Do not use a value as a part of a path before it is checked: it comes from the host.
    pub fn new<F, Fut, T, E>(uri: impl Into<String>, name: impl Into<String>, read: F) -> Self
    where
        F: Fn(Variables) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, E>> + Send + 'static,
        T: Into<Content>,
        E: fmt::Display,
    {
        let read = move |variables| -> Pin<Box<dyn Future<Output = _> + Send>> {
            let read = read(variables);
            Box::pin(async move {
                match read.await {
                    Ok(content) => Ok(content.into()),
                    Err(error) => Err(error.to_string()),
                }
            })
        };
        Resource {
            uri: uri.into(),
            name: name.into(),
            description: None,
            media_type: None,
            read: Arc::new(read),
        }
    }

    /// Sets the description, by which a host or its model chooses the resource.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets the media type of the resource's text; `text/plain` by default. Files bring their own media types.
    pub fn media_type(mut self, media_type: impl Into<String>) -> Self {
        self.media_type = Some(media_type.into());
        self
    }

    fn is_template(&self) -> bool {
        self.uri.contains('{')
    }

    /// Returns the entry of this resource in a list of resources; `None` for a template.
    pub(super) fn listed(&self) -> Option<model::Resource> {
        if self.is_template() {
            return None;
        }
        let mut listed = model::Resource::new(&self.uri, &self.name);
        listed.description.clone_from(&self.description);
        listed.mime_type.clone_from(&self.media_type);
        Some(listed)
    }

    /// Returns the entry of this resource in a list of templates; `None` unless its URI has variables.
    pub(super) fn template(&self) -> Option<ResourceTemplate> {
        if !self.is_template() {
            return None;
        }
        let mut listed = ResourceTemplate::new(&self.uri, &self.name);
        listed.description.clone_from(&self.description);
        listed.mime_type.clone_from(&self.media_type);
        Some(listed)
    }

    /// Returns the values of the variables if the resource has this URI, and `None` otherwise.
    pub(super) fn matches(&self, uri: &str) -> Option<Variables> {
        let mut variables = Variables::new();
        let (mut template, mut rest) = (self.uri.as_str(), uri);
        while let Some((before, after)) = template.split_once('{') {
            rest = rest.strip_prefix(before)?;
            let (name, after) = after.split_once('}')?;
            // The value ends where the text that follows the variable begins.
            let next = after.split('{').next().unwrap_or_default();
            let end = match next {
                "" => rest.len(),
                next => rest.find(next)?,
            };
            let (value, further) = rest.split_at(end);
            if value.is_empty() || value.contains('/') {
                return None;
            }
            variables.insert(name.to_owned(), value.to_owned());
            (template, rest) = (after, further);
        }
        (template == rest).then_some(variables)
    }

    /// Reads the resource at this URI, with the values of its variables that [`matches`](Self::matches) has found.
    pub(super) async fn read(
        &self,
        uri: &str,
        variables: Variables,
    ) -> Result<ReadResourceResult, String> {
        let content = (self.read)(variables).await?;
        let contents = content::contents(uri, self.media_type.as_deref(), &content);
        Ok(ReadResourceResult::new(contents))
    }
}

impl fmt::Debug for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resource")
            .field("uri", &self.uri)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn values(template: &str, uri: &str) -> Option<Vec<String>> {
        let read = |_| async { Ok::<_, Infallible>("") };
        let values = Resource::new(template, "x", read).matches(uri)?;
        Some(values.into_values().collect())
    }

    #[test]
    fn a_template_matches_a_uri_with_a_value_for_each_variable() {
        let some = |values: &[&str]| Some(values.iter().map(|&value| value.to_owned()).collect());
        assert_eq!(values("notes://style", "notes://style"), some(&[]));
        assert_eq!(values("notes://style", "notes://styles"), None);
        assert_eq!(values("t://a/{id}/data", "t://a/123/data"), some(&["123"]));
        assert_eq!(values("t://{a}-{b}", "t://x-y"), some(&["x", "y"]));
        for uri in [
            "t://a//data",
            "t://a/1/2/data",
            "t://a/1",
            "t://a/1/data2",
            "t://b/1/data",
        ] {
            assert_eq!(values("t://a/{id}/data", uri), None, "{uri}");
        }
        assert_eq!(values("t://{unclosed", "t://x"), None);
    }
}
