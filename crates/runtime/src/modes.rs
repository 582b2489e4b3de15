//! Modes: which calls run without a question, as operators have set.

use crate::{Client, Principal, RuntimeError, approvals::BY_POLICY, trail::CheckedTrail};
use agents_core::{
    run::{ApprovalReason, ApprovalRequest, Timestamp},
    tool::Risk,
};
use agents_store::{
    ALL_TENANTS, AuditKey, AuditKind, ModeChange, NewEvent, PLATFORM, Store, StoredMode,
};
use serde::{Deserialize, Serialize};
use std::fmt;
use tokio::sync::Mutex;

/// Mode in which people are asked about calls. Operators set it, and all workers go by it.
///
/// A mode decides about calls for which a rule demands approval: a policy of the run, a condition
/// (`approval = when(..)`), or the default for tools that write outside of the organisation. So code can tighten a mode,
/// but cannot loosen it. In every mode, a person is asked about these calls:
///
/// - of a tool that declares `approval = always`, that is irreversible, or that has an execution in doubt
/// - that a place in a team confirms
/// - that have run before
/// - whose approver has given riskier arguments
/// - that ask a question
///
/// ```
/// use agents_runtime::Mode;
/// use agents_store::Risk;
///
/// assert_eq!(Mode::UpTo(Risk::Low).to_string(), "up_to_low");
/// assert_eq!("external_only".parse::<Mode>(), Ok(Mode::ExternalOnly));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
#[non_exhaustive]
pub enum Mode {
    /// A person is asked about every call that needs approval; the default.
    #[default]
    Ask,
    /// A person is asked about calls of a higher risk than this one, and about those that every [`Mode`] asks about.
    UpTo(Risk),
    /// A person is asked about calls of tools whose effects leave the organisation, and about those that every [`Mode`]
    /// asks about.
    ExternalOnly,
    /// No person is asked, except about the calls that every [`Mode`] asks about.
    Off,
}

/// All modes that can be set for a tenant.
const MODES: [Mode; 6] = [
    Mode::Ask,
    Mode::UpTo(Risk::Low),
    Mode::UpTo(Risk::Medium),
    Mode::UpTo(Risk::High),
    Mode::ExternalOnly,
    Mode::Off,
];

impl Mode {
    /// Returns the word for the mode, as tables and the audit trail have it.
    pub fn as_str(self) -> &'static str {
        match self {
            Mode::Ask => "ask",
            Mode::UpTo(Risk::Low) => "up_to_low",
            Mode::UpTo(Risk::Medium) => "up_to_medium",
            Mode::UpTo(Risk::High) => "up_to_high",
            Mode::ExternalOnly => "external_only",
            Mode::Off => "off",
        }
    }

    /// Returns `true` if this mode lets a call run without asking a person.
    fn skips(self, request: &ApprovalRequest) -> bool {
        let are_of_rules = request.reasons.iter().all(ApprovalReason::is_of_a_rule);
        // A request of an earlier version says no reasons.
        if request.reasons.is_empty() || !are_of_rules || request.irreversible {
            return false;
        }
        match self {
            Mode::Ask => false,
            Mode::UpTo(most) => request.risk <= most,
            Mode::ExternalOnly => !request.external,
            Mode::Off => true,
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl std::str::FromStr for Mode {
    type Err = RuntimeError;

    fn from_str(word: &str) -> Result<Self, RuntimeError> {
        let found = MODES.into_iter().find(|mode| mode.as_str() == word);
        found.ok_or_else(|| {
            let words: Vec<_> = MODES.iter().map(|mode| mode.as_str()).collect();
            crate::wording::no_mode(word, &words)
        })
    }
}

impl TryFrom<String> for Mode {
    type Error = RuntimeError;

    fn try_from(word: String) -> Result<Self, RuntimeError> {
        word.parse()
    }
}

impl From<Mode> for String {
    fn from(mode: Mode) -> String {
        mode.as_str().to_owned()
    }
}

/// Mode that is set for a tenant or for all tenants. Serialized, it has the fields that pages use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ModeSetting {
    /// Tenant for which the mode is set; `None` for all tenants without a mode of their own.
    pub tenant_id: Option<String>,
    /// Mode that is set for the tenant, or for all tenants.
    pub mode: Mode,
    /// Principal who has set the mode: a person or a program, by its id.
    pub set_by: String,
    /// Time at which the mode was set.
    pub set_at: Timestamp,
}

/// Modes of a store: sets and lists them. Only an operator of the platform may do so.
///
/// ```
/// use agents_runtime::{Mode, Principal, Runtime, SqliteStore};
/// use agents_store::Risk;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agents_runtime::RuntimeError> {
/// # let store = SqliteStore::in_memory().await?;
/// let modes = Runtime::client(store).modes();
/// let operator = Principal::operator();
/// modes.set(None, Mode::UpTo(Risk::Low), &operator).await?; // for all tenants
/// modes.set(Some("acme"), Mode::Ask, &operator).await?; // but not for this one
/// assert_eq!(modes.list(&operator).await?.len(), 2);
///
/// let grace = Principal::new("grace", "acme");
/// assert!(modes.set(Some("acme"), Mode::Off, &grace).await.is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Modes {
    client: Client,
}

impl Modes {
    pub(crate) fn of(client: Client) -> Self {
        Modes { client }
    }

    /// Sets the mode of a tenant, or of all tenants without a mode of their own. It applies to requests for approval
    /// that are made from then on.
    ///
    /// # Errors
    /// When the principal is no operator, which is then added to the audit trail; when `tenant` is `*`, which is no
    /// tenant; when the store fails.
    pub async fn set(
        &self,
        tenant: Option<&str>,
        mode: Mode,
        by: &Principal,
    ) -> Result<(), RuntimeError> {
        self.change(tenant, Some(mode), by).await
    }

    /// Removes the mode of a tenant: the mode of all tenants then applies to it. With `None`, removes the mode of all
    /// tenants: people of tenants without a mode of their own are then asked again.
    ///
    /// # Errors
    /// When the principal is no operator, which is then added to the audit trail; when `tenant` is `*`, which is no
    /// tenant; when the store fails.
    pub async fn remove(&self, tenant: Option<&str>, by: &Principal) -> Result<(), RuntimeError> {
        self.change(tenant, None, by).await
    }

    /// Returns the modes that are set, that of all tenants first.
    ///
    /// # Errors
    /// When the principal is no operator, which is then added to the audit trail; when a mode was written into the
    /// store by hand, or the store fails.
    pub async fn list(&self, by: &Principal) -> Result<Vec<ModeSetting>, RuntimeError> {
        self.must_be_operator(by, None).await?;
        let key = self.client.audit_key()?;
        let set = self.client.store().await?.platform().await?;
        let set = set.modes.into_iter().map(|stored| {
            Ok(ModeSetting {
                mode: read(&stored, &key)?,
                tenant_id: stored.tenant,
                set_by: stored.set_by,
                set_at: stored.set_at,
            })
        });
        set.collect()
    }

    async fn change(
        &self,
        tenant: Option<&str>,
        mode: Option<Mode>,
        by: &Principal,
    ) -> Result<(), RuntimeError> {
        self.must_be_operator(by, mode).await?;
        if tenant == Some(ALL_TENANTS) {
            return Err(crate::wording::all_is_no_tenant(ALL_TENANTS));
        }
        let change = ModeChange {
            tenant: tenant.map(str::to_owned),
            mode: mode.map(String::from),
            by: by.id().to_owned(),
        };
        Ok(self.client.store().await?.set_mode(&change).await?)
    }

    async fn must_be_operator(
        &self,
        by: &Principal,
        mode: Option<Mode>,
    ) -> Result<(), RuntimeError> {
        let Some(tenant) = by.tenant() else {
            return Ok(());
        };
        let event = NewEvent {
            run: PLATFORM.to_owned(),
            tenant: Some(tenant.to_owned()),
            kind: AuditKind::Refused,
            actor: Some(by.id().to_owned()),
            subject: mode.map(String::from),
            tool_name: None,
            detail: None,
        };
        self.client.store().await?.record(&event).await?;
        Err(crate::wording::may_not_set_modes(by.id()))
    }
}

/// Reads a stored mode. It is an error if nobody with the audit key has set it, so that it was written by hand.
fn read(stored: &StoredMode, key: &AuditKey) -> Result<Mode, RuntimeError> {
    if stored.proof != key.of_mode(stored) {
        return Err(crate::wording::mode_by_hand(stored.tenant.as_deref()));
    }
    stored.mode.parse()
}

/// Mode that is in effect for a tenant, as a worker has read it.
pub(crate) struct ModeInEffect {
    mode: Mode,
    /// Number of the event in the audit trail by which the mode was set.
    seq: u64,
}

impl ModeInEffect {
    /// Returns the mode that is in effect for a tenant; `None` if none is set. A mode that is not the last one of which
    /// the trail of the platform tells is an error.
    pub(crate) async fn of(
        store: &dyn Store,
        key: &AuditKey,
        platform: &Mutex<CheckedTrail>,
        tenant: &str,
    ) -> Result<Option<Self>, RuntimeError> {
        let set = platform.lock().await.modes(store).await?;
        let own = |one: &&StoredMode| one.tenant.as_deref() == Some(tenant);
        let of_all = |one: &&StoredMode| one.tenant.is_none();
        let stored = set.iter().find(own).or_else(|| set.iter().find(of_all));
        let found = stored.map(|stored| {
            Ok::<_, RuntimeError>(ModeInEffect {
                mode: read(stored, key)?,
                seq: stored.seq,
            })
        });
        found.transpose()
    }

    /// Returns the name under which the mode approves this request; `None` if the mode has a person asked.
    pub(crate) fn skips(&self, request: &ApprovalRequest) -> Option<String> {
        let mode = self.mode;
        mode.skips(request).then(|| format!("{BY_POLICY}{mode}"))
    }

    pub(crate) fn seq(&self) -> u64 {
        self.seq
    }
}
