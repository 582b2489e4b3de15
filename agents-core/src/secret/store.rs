use super::{SecretError, SecretOwner, SecretValue, Secrets};
use async_trait::async_trait;
use std::{collections::HashMap, fmt};

/// Store of secrets in memory. Each secret has a name and an owner: an organisation (tenant), or a workspace or a user
/// of it.
///
/// ```
/// # use agents_core as agents;
/// use agents::secret::SecretStore;
/// # use agents::{Agent, agent::ModelAgent};
/// # async fn run(agent: ModelAgent<'_, String, String>) -> Result<(), agents::Error> {
/// let secrets = SecretStore::new()
///     .org("acme", "crm", "the key of all of acme")
///     .user("acme", "ada", "crm", "the key of ada");
/// agent.run("Who is our best customer?").scope("acme").secrets(secrets).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct SecretStore {
    /// Versions of each secret, the current one last.
    kept: HashMap<(SecretOwner, String), Vec<SecretValue>>,
}

impl SecretStore {
    /// Creates a store in memory that has no secrets yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a secret that a user of an organisation owns.
    #[must_use]
    pub fn user(
        self,
        org_id: impl Into<String>,
        user_id: impl Into<String>,
        name: impl Into<String>,
        value: impl Into<SecretValue>,
    ) -> Self {
        let owner = SecretOwner::User {
            org_id: org_id.into(),
            user_id: user_id.into(),
        };
        self.of(owner, name, value)
    }

    /// Adds a secret that a workspace of an organisation owns.
    #[must_use]
    pub fn workspace(
        self,
        org_id: impl Into<String>,
        domain_id: impl Into<String>,
        name: impl Into<String>,
        value: impl Into<SecretValue>,
    ) -> Self {
        let owner = SecretOwner::Workspace {
            org_id: org_id.into(),
            domain_id: domain_id.into(),
        };
        self.of(owner, name, value)
    }

    /// Adds a secret that an organisation owns.
    #[must_use]
    pub fn org(
        self,
        org_id: impl Into<String>,
        name: impl Into<String>,
        value: impl Into<SecretValue>,
    ) -> Self {
        let owner = SecretOwner::Org {
            org_id: org_id.into(),
        };
        self.of(owner, name, value)
    }

    /// Adds a secret of an organisation, a workspace or a user. The value becomes the current one, and replaces the
    /// owner's secret of the same name and version. Other versions stay, for runs whose journals refer to them.
    #[must_use]
    pub fn of(
        mut self,
        owner: SecretOwner,
        name: impl Into<String>,
        value: impl Into<SecretValue>,
    ) -> Self {
        let value = value.into();
        let versions = self.kept.entry((owner, name.into())).or_default();
        versions.retain(|known| known.version_name() != value.version_name());
        versions.push(value);
        self
    }
}

#[async_trait]
impl Secrets for SecretStore {
    async fn find(
        &self,
        owner: &SecretOwner,
        name: &str,
    ) -> Result<Option<SecretValue>, SecretError> {
        let versions = self.kept.get(&(owner.clone(), name.to_owned()));
        Ok(versions.and_then(|versions| versions.last()).cloned())
    }

    async fn find_version(
        &self,
        owner: &SecretOwner,
        name: &str,
        version: &str,
    ) -> Result<Option<SecretValue>, SecretError> {
        let versions = self.kept.get(&(owner.clone(), name.to_owned()));
        let found = versions.into_iter().flatten();
        let mut found = found.filter(|value| value.version_name() == Some(version));
        Ok(found.next_back().cloned())
    }
}

impl fmt::Debug for SecretStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretStore({} secrets)", self.kept.len())
    }
}
