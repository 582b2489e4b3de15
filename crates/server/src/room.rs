//! State that all requests share.

use crate::{Authenticator, ControlRoom, live::Live};
use agents_control::ControlPlane;
use agents_core::secret::Secrets;
use agents_runtime::{Action, Client, Principal};
use agents_store::{ApprovalFilter, ApprovalStatus};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    sync::{Arc, OnceLock},
};

/// State of a control room, which all its handlers share.
#[derive(Clone)]
pub(crate) struct Room {
    pub(crate) client: Client,
    /// Control plane whose models and costs are shown, if there is one.
    pub(crate) control: Option<ControlPlane>,
    /// Store of secrets, by which the control room says which ones are missing.
    pub(crate) secrets: Option<Arc<dyn Secrets>>,
    /// Names of the agents that people may send messages to.
    pub(crate) agents: Arc<BTreeSet<String>>,
    pub(crate) authenticator: Arc<dyn Authenticator>,
    pub(crate) live: Live,
    key: FormKey,
}

/// Key with which the tokens of forms are made. All servers of a store have the same one, so a form of one of them is
/// taken by each, also after a restart.
#[derive(Clone)]
struct FormKey {
    /// Key that is made from the keyring of the store, once it was read.
    shared: Arc<OnceLock<[u8; 32]>>,
    /// Key of this server, for a store whose keyring cannot be read here.
    own: [u8; 32],
}

impl FormKey {
    fn of(&self, client: &Client) -> [u8; 32] {
        if let Some(key) = self.shared.get() {
            return *key;
        }
        match client.key_for("forms of the control room") {
            Ok(key) => *self.shared.get_or_init(|| key),
            Err(error) => {
                tracing::debug!(%error, "forms of this server alone: there is no keyring");
                self.own
            }
        }
    }
}

/// Person or program that sends a request, and the place of the control room.
#[derive(Clone)]
pub(crate) struct Visitor {
    pub(crate) principal: Principal,
    /// Path under which the control room is nested; empty at the root.
    pub(crate) base: String,
    /// Secret token in the visitor's forms, which another site does not know. All servers of the store have the same.
    pub(crate) token: String,
    /// Actions that the roles do not let the visitor take, each with the reason.
    refusals: BTreeMap<Action, String>,
    /// Number of requests that wait for a decision, up to one more than [`MOST_COUNTED`]; 0 for a request for JSON, for
    /// which they are not counted.
    pub(crate) pending: usize,
    /// Number of the newest event of the audit trail before the page is made, behind which the page hears of changes; `None`
    /// for JSON, or if the trail cannot be read.
    pub(crate) at: Option<u64>,
}

/// Largest number of waiting requests that pages show; for more, they say that there are more.
pub(crate) const MOST_COUNTED: usize = 99;

impl Room {
    pub(crate) fn new(room: ControlRoom, authenticator: impl Authenticator) -> Self {
        let ControlRoom {
            client,
            control,
            secrets,
            agents,
        } = room;
        Room {
            live: Live::new(client.clone()),
            client,
            control,
            secrets,
            agents: Arc::new(agents),
            authenticator: Arc::new(authenticator),
            key: FormKey {
                shared: Arc::default(),
                own: random(),
            },
        }
    }

    pub(crate) fn visitor(&self, principal: Principal, base: String) -> Visitor {
        let whom = match principal.tenant() {
            Some(tenant) => format!("{tenant}\n{}", principal.id()),
            None => principal.id().to_owned(),
        };
        let key = self.key.of(&self.client);
        let token = hex(&hmac_sha256::HMAC::mac(whom.as_bytes(), key));
        let allow = |action| self.client.allow(action, &principal).err();
        let refusals = Action::ALL
            .iter()
            .filter_map(|&action| Some((action, allow(action)?.to_string())))
            .collect();
        Visitor {
            refusals,
            principal,
            base,
            token,
            pending: 0,
            at: None,
        }
    }

    /// Returns the number of requests that wait for a decision and that a principal may see, up to one more than
    /// [`MOST_COUNTED`]. It is 0 if the store cannot be read: the page itself says so.
    pub(crate) async fn pending(&self, by: &Principal) -> usize {
        let filter = ApprovalFilter {
            status: Some(ApprovalStatus::Pending),
            limit: u32::try_from(MOST_COUNTED + 1).unwrap_or(u32::MAX),
            ..ApprovalFilter::default()
        };
        let pending = self.client.approvals().list(&filter, by).await;
        pending.map_or(0, |pending| pending.len())
    }
}

impl Visitor {
    /// Returns why the roles do not let the visitor take this action; `None` if they do.
    pub(crate) fn refusal(&self, action: Action) -> Option<&str> {
        self.refusals.get(&action).map(String::as_str)
    }

    /// Returns the tenant to whose runs the visitor is limited; `None` for all tenants.
    pub(crate) fn tenant(&self) -> Option<String> {
        self.principal.tenant().map(str::to_owned)
    }
}

/// Returns random bytes of the operating system.
///
/// # Panics
/// When the operating system has none.
pub(crate) fn random() -> [u8; 32] {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
    bytes
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// Returns `true` if both secrets are the same. The time of the comparison does not depend on where they differ.
pub(crate) fn is_same(given: &str, expected: &str) -> bool {
    let of = |text: &str| hmac_sha256::Hash::hash(text.as_bytes());
    let differences = of(given).into_iter().zip(of(expected)).map(|(a, b)| a ^ b);
    differences.fold(0, |all, one| all | one) == 0
}
