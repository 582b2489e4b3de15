use serde::{Deserialize, Serialize};

/// Scope for which a run works: an organisation (the tenant) and, optionally, a workspace and a user.
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
    /// Id of the organisation, which is the tenant.
    pub org_id: String,
    /// Id of the workspace within the organisation; `None` if the run works for no particular workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain_id: Option<String>,
    /// Id of the user within the organisation; `None` if the run works for no particular user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// Bounded context (in the sense of domain-driven design) that the request comes from; `None` if it was not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bc: Option<String>,
}

impl Scope {
    /// Returns the tenant: the id of the organisation.
    pub fn tenant_id(&self) -> &str {
        &self.org_id
    }

    /// Sets the workspace of the organisation that the run works for.
    #[must_use]
    pub fn domain(mut self, domain_id: impl Into<String>) -> Self {
        self.domain_id = Some(domain_id.into());
        self
    }

    /// Sets the user of the organisation that the run works for.
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
