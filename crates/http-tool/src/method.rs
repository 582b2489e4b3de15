use serde::{Deserialize, Serialize};
use std::fmt;

/// HTTP method of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    /// `GET`: read a resource.
    #[default]
    Get,
    /// `HEAD`: read the headers of a resource.
    Head,
    /// `POST`: submit data.
    Post,
    /// `PUT`: replace a resource.
    Put,
    /// `PATCH`: change a resource.
    Patch,
    /// `DELETE`: delete a resource.
    Delete,
}

impl Method {
    /// Returns `true` if the method only reads, so that calls with it need no approval.
    pub(super) fn reads(self) -> bool {
        matches!(self, Method::Get | Method::Head)
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Head => "HEAD",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Patch => "PATCH",
            Method::Delete => "DELETE",
        }
    }
}

impl From<Method> for reqwest::Method {
    fn from(method: Method) -> Self {
        match method {
            Method::Get => reqwest::Method::GET,
            Method::Head => reqwest::Method::HEAD,
            Method::Post => reqwest::Method::POST,
            Method::Put => reqwest::Method::PUT,
            Method::Patch => reqwest::Method::PATCH,
            Method::Delete => reqwest::Method::DELETE,
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
