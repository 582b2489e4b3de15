use serde::{Deserialize, Serialize};

/// For whom a run works.
///
/// ```
/// # use agents_core as agents;
/// use agents::tool::Scope;
///
/// let scope = Scope::from("acme").user("ada");
/// assert_eq!(scope.tenant_id(), "acme");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Scope {
    /// The organisation: the tenant.
    pub org_id: String,
    /// The workspace within it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain_id: Option<String>,
    /// The person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// The bounded context that asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bc: Option<String>,
}

impl Scope {
    /// The tenant: the organisation.
    pub fn tenant_id(&self) -> &str {
        &self.org_id
    }

    /// Names the workspace.
    #[must_use]
    pub fn domain(mut self, domain_id: impl Into<String>) -> Self {
        self.domain_id = Some(domain_id.into());
        self
    }

    /// Names the person.
    #[must_use]
    pub fn user(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = Some(user_id.into());
        self
    }
}

impl From<&str> for Scope {
    fn from(org_id: &str) -> Self {
        org_id.to_owned().into()
    }
}

impl From<&String> for Scope {
    fn from(org_id: &String) -> Self {
        org_id.as_str().into()
    }
}

impl From<String> for Scope {
    fn from(org_id: String) -> Self {
        Scope {
            org_id,
            ..Scope::default()
        }
    }
}
