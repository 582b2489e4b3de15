//! Principals: whoever starts runs and decides about requests.

use crate::{RuntimeError, approvals::BY_POLICY, wording};
use serde::{Deserialize, Serialize};

/// Id of the operator of the platform.
const OPERATOR: &str = "operator";

/// Error that says that a list is empty for this principal in any case, since it is about another tenant.
#[derive(Debug, PartialEq)]
pub(crate) struct Empty;

/// Person or program that starts runs and decides about requests.
///
/// An application makes a principal of what its authentication says, and of nothing else. A principal of a tenant whose
/// id is `operator`, or begins with `policy:`, starts no run and decides nothing: the audit trail would have a name that
/// is another's.
///
/// ```
/// use agents_runtime::Principal;
///
/// let grace = Principal::new("grace", "acme").role("treasurer");
/// assert!(grace.has_role("treasurer"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Principal {
    id: String,
    /// Tenant of the principal; `None` for an operator of all tenants.
    tenant: Option<String>,
    #[serde(default)]
    roles: Vec<String>,
}

impl Principal {
    /// Creates a principal of a tenant. An application without tenants has the tenant `""`.
    pub fn new(id: impl Into<String>, tenant: impl Into<String>) -> Self {
        Principal {
            id: id.into(),
            tenant: Some(tenant.into()),
            roles: Vec::new(),
        }
    }

    /// Creates the operator of the platform, who sees the runs and requests of all tenants. The operator may decide
    /// about every request, also if the operator has started the run.
    pub fn operator() -> Self {
        Principal {
            id: OPERATOR.to_owned(),
            tenant: None,
            roles: Vec::new(),
        }
    }

    /// Adds a role to the principal, by which [`Roles`](crate::Roles) permit decisions and actions.
    #[must_use]
    pub fn role(mut self, role: impl Into<String>) -> Self {
        self.roles.push(role.into());
        self
    }

    /// Returns the id of the person or program.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the tenant; `None` for the operator of the platform.
    pub fn tenant(&self) -> Option<&str> {
        self.tenant.as_deref()
    }

    /// Returns `true` if the principal has this role.
    pub fn has_role(&self, role: &str) -> bool {
        self.roles.iter().any(|own| own == role)
    }

    /// Returns the tenant whose entries a list has for this principal; `None` for all tenants. `asked` is the tenant
    /// that the list is limited to. Returns an error if that is not the principal's own tenant: nothing of it exists
    /// for the principal.
    pub(crate) fn narrows(&self, asked: Option<&str>) -> Result<Option<String>, Empty> {
        match (self.tenant(), asked) {
            (Some(own), Some(asked)) if own != asked => Err(Empty),
            (Some(own), _) => Ok(Some(own.to_owned())),
            (None, asked) => Ok(asked.map(str::to_owned)),
        }
    }

    /// Checks that the id is neither that of the operator nor that of a policy, unless the principal is the operator.
    pub(crate) fn has_name_of_its_own(&self) -> Result<(), RuntimeError> {
        let id = self.id.trim().to_lowercase();
        match self.is_operator() {
            true => Ok(()),
            false if id == OPERATOR => Err(wording::named_like_the_operator(&self.id)),
            false if id.starts_with(BY_POLICY) => Err(wording::named_like_a_policy(&self.id)),
            false => Ok(()),
        }
    }

    /// Returns `true` if the principal is the operator of the platform.
    pub fn is_operator(&self) -> bool {
        self.tenant.is_none()
    }
}
