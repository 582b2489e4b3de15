//! Roles: one table for decisions and for steering.

use crate::{Client, Principal, RuntimeError, wording};
use agents_core::tool::Risk;
use agents_store::{AuditKind, NewEvent, PLATFORM, Run};
use std::{collections::BTreeMap, fmt};

/// Rules about which principals may decide, and cancel, pause or undo.
///
/// Give the same rules to every process that takes decisions: [`Runtime::roles`](crate::Runtime::roles) and
/// [`Client::roles`](crate::Client::roles). The operator of the platform may do everything. For everybody else, the run
/// of another tenant does not exist, and these rules apply:
///
/// | action | without a rule | with a role |
/// |-|-|-|
/// | decide, settle a doubt | everybody of the tenant | whoever has the role of the action, and that of every rule for this risk or a lower one |
/// | answer a question | everybody of the tenant | whoever has the role, the user whom the run works for, and whoever has started it |
/// | read exact arguments | whoever may decide about the call | whoever has the role; for a question also whoever may answer it |
/// | see the contents of runs | whoever may decide about every risk | whoever has the role for reading arguments |
/// | read and write in the conversation of another | nobody, unless [shared](Roles::share_conversations) | whoever has the role to see contents |
/// | cancel, pause, release, say, undo, replay, triage | everybody of the tenant | whoever has the role |
/// | change profiles of the tenant in a control plane (give the roles to `ControlPlane::roles`) | everybody of the tenant | whoever has the role |
/// | call a tool, vary a run, erase, rotate | the operator | whoever of the tenant has the role |
/// | hold all runs, webhooks | the operator | the operator |
///
/// Except for the operator, whoever has started a run, is the user whom it works for, or wrote to its agent, neither
/// decides about its requests nor settles its doubts. Questions are answered by the rules of the table alone. A refusal
/// is in the audit trail of the run, or in that of the platform if it concerns no run.
///
/// ```
/// use agents_core::tool::Risk;
/// use agents_runtime::{Action, Roles, Runtime, SqliteStore};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let roles = Roles::new()
///     .for_risk(Risk::High, "treasurer")
///     .for_action(Action::Cancel, "dispatcher")
///     .for_action(Action::Erase, "privacy");
/// let client = Runtime::client(SqliteStore::in_memory().await?).roles(roles);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roles {
    risks: BTreeMap<Risk, String>,
    actions: BTreeMap<Action, String>,
    shares_conversations: bool,
}

/// Action of a principal that [`Roles`] may have a rule for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Action {
    /// Decides about requests for approval of calls.
    Decide,
    /// Answers questions of agents. The user whom a run works for, and whoever has started it, need no role for it.
    Answer,
    /// Reads the exact arguments of a call that somebody is asked about, and the contents of runs (see
    /// [`Client::may_see_contents`]). Whoever may answer a question of an agent needs no role to read the question.
    ReadArguments,
    /// Settles doubts about executions: tells whether a tool took effect.
    Settle,
    /// Cancels runs that are not over.
    Cancel,
    /// Pauses runs that are not over.
    Pause,
    /// Gives instructions to the agents of runs that are not over.
    Say,
    /// Lets runs go on that are held or paused.
    Release,
    /// Undoes the effects of executions and of whole runs.
    Undo,
    /// Calls a tool directly, or varies a run: see [`Client::call`] and [`Client::what_if`].
    Call,
    /// Erases the contents of runs that are over.
    Erase,
    /// Gives a tenant a new key, with which the keys of its runs are wrapped anew.
    Rotate,
    /// Holds all runs of the store.
    HoldAll,
    /// Lists deliveries of webhooks, sends them again, and removes subscribers of notifications.
    Webhooks,
    /// Changes profiles of a tenant in a control plane (`agents-control`).
    Profiles,
    /// Replays dead letters. A run that is held needs [`Release`](Action::Release) instead.
    Replay,
    /// Sets the status of clusters of failures.
    Triage,
}

impl Action {
    /// All actions that a rule can be about.
    pub const ALL: &'static [Action] = &[
        Action::Decide,
        Action::Answer,
        Action::ReadArguments,
        Action::Settle,
        Action::Cancel,
        Action::Pause,
        Action::Say,
        Action::Release,
        Action::Undo,
        Action::Call,
        Action::Erase,
        Action::Rotate,
        Action::HoldAll,
        Action::Webhooks,
        Action::Profiles,
        Action::Replay,
        Action::Triage,
    ];

    /// Returns the word for the action, as the command line has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Action::Decide => "decide",
            Action::Answer => "answer",
            Action::ReadArguments => "read-arguments",
            Action::Settle => "settle",
            Action::Cancel => "cancel",
            Action::Pause => "pause",
            Action::Say => "say",
            Action::Release => "release",
            Action::Undo => "undo",
            Action::Call => "call",
            Action::Erase => "erase",
            Action::Rotate => "rotate",
            Action::HoldAll => "hold-all",
            Action::Webhooks => "webhooks",
            Action::Profiles => "profiles",
            Action::Replay => "replay",
            Action::Triage => "triage",
        }
    }

    /// Returns `true` if the action concerns more than one tenant, so that only the operator may do it.
    fn is_of_the_platform(self) -> bool {
        matches!(self, Action::HoldAll | Action::Webhooks)
    }

    /// Returns `true` if only the operator may do this action unless a role is named for it.
    fn is_reserved(self) -> bool {
        self.is_of_the_platform() || matches!(self, Action::Call | Action::Erase | Action::Rotate)
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Roles {
    /// Creates rules that demand no roles.
    pub fn new() -> Self {
        Roles::default()
    }

    /// Demands a role of whoever decides about calls of this risk or a higher one, and of whoever settles doubts about
    /// them.
    #[must_use]
    pub fn for_risk(mut self, risk: Risk, role: impl Into<String>) -> Self {
        self.risks.insert(risk, role.into());
        self
    }

    /// Demands a role for an action. An action that is reserved for the operator becomes possible for the role. A role for
    /// [`HoldAll`](Action::HoldAll) or [`Webhooks`](Action::Webhooks) changes nothing.
    #[must_use]
    pub fn for_action(mut self, action: Action, role: impl Into<String>) -> Self {
        self.actions.insert(action, role.into());
        self
    }

    /// Shares conversations: whoever may [see the contents of runs](Client::may_see_contents) reads those of others, and
    /// writes in them. Without this, a conversation is [its author's](crate::ConversationRef::admits). If it takes a role to
    /// see contents, a conversation is also for whoever has that role.
    #[must_use]
    pub fn share_conversations(mut self) -> Self {
        self.shares_conversations = true;
        self
    }

    /// Checks that the rules let a principal do this action. They do not check that its object belongs to the
    /// principal's tenant, and they leave out the roles for [a risk](Roles::for_risk).
    ///
    /// ```
    /// use agents_runtime::{Action, Principal, Roles};
    ///
    /// let roles = Roles::new().for_action(Action::Cancel, "dispatcher");
    /// let ada = Principal::new("ada", "acme");
    /// assert!(roles.allow(Action::Cancel, &ada).is_err());
    /// assert!(roles.allow(Action::Cancel, &ada.clone().role("dispatcher")).is_ok());
    /// assert!(roles.allow(Action::Pause, &ada).is_ok());
    /// assert!(roles.allow(Action::Erase, &ada).is_err()); // the operator's, without a role for it
    /// ```
    ///
    /// # Errors
    /// When the principal lacks the role, the action is the operator's, or the principal has the name of the operator or
    /// of a policy.
    pub fn allow(&self, action: Action, by: &Principal) -> Result<(), RuntimeError> {
        if by.is_operator() {
            return Ok(());
        }
        by.has_name_of_its_own()?;
        let role = self.actions.get(&action);
        match role.filter(|_| !action.is_of_the_platform()) {
            Some(role) if by.has_role(role) => Ok(()),
            Some(role) => Err(wording::action_needs_role(action, role, by.id())),
            None if action.is_reserved() => Err(wording::no_operator(action, by.id())),
            None => Ok(()),
        }
    }

    /// Checks that a principal may decide about a call of this risk, or settle a doubt about it. Except for the
    /// operator, the people who started the run, or for whom it works, may not.
    pub(crate) fn allow_judge(
        &self,
        action: Action,
        risk: Risk,
        (started_by, user): (Option<&str>, Option<&str>),
        by: &Principal,
    ) -> Result<(), RuntimeError> {
        self.allow(action, by)?;
        if by.is_operator() {
            return Ok(());
        }
        let id = by.id();
        let what = match action {
            Action::Settle => wording::SETTLE,
            _ => wording::DECIDE,
        };
        if started_by == Some(id) {
            return Err(wording::started_the_run(id, what));
        }
        if user == Some(id) {
            return Err(wording::run_works_for(id, what));
        }
        match self.missing_role(risk, by) {
            Some(role) => Err(wording::role_missing(id, role, risk)),
            None => Ok(()),
        }
    }

    /// Checks that a principal may answer a question of a run. `started_by` has started the run, and `user` is the user
    /// whom it works for.
    pub(crate) fn allow_answer(
        &self,
        (started_by, user): (Option<&str>, Option<&str>),
        by: &Principal,
    ) -> Result<(), RuntimeError> {
        let id = by.id();
        by.has_name_of_its_own()?;
        match started_by == Some(id) || user == Some(id) {
            true => Ok(()),
            false => self.allow(Action::Answer, by),
        }
    }

    /// Returns a role that a principal lacks to judge calls of this risk; `None` if the principal has all of them.
    fn missing_role(&self, risk: Risk, by: &Principal) -> Option<&str> {
        let mut needed = self.risks.range(..=risk).map(|(_, role)| &**role);
        needed.find(|role| !by.is_operator() && !by.has_role(role))
    }

    /// Returns the highest risk of calls that a principal may approve; `Low` also for a principal who may approve none.
    pub(crate) fn at_most(&self, by: &Principal) -> Risk {
        let may = |risk: &Risk| self.missing_role(*risk, by).is_none();
        let highest = [Risk::High, Risk::Medium].into_iter().find(may);
        highest.unwrap_or(Risk::Low)
    }

    /// Returns the role that is needed to read exact arguments; `None` if none is.
    pub(crate) fn for_arguments(&self) -> Option<&str> {
        self.actions.get(&Action::ReadArguments).map(|role| &**role)
    }
}

impl Client {
    /// Sets the rules about who may decide and steer. Without them, the column "without a rule" in the table of
    /// [`Roles`] applies.
    #[must_use]
    pub fn roles(mut self, roles: Roles) -> Self {
        self.roles = roles.into();
        self
    }

    /// Checks that the rules let a principal do this, as [`Roles::allow`] does. Nothing is done, and nothing is added
    /// to the audit trail: a page calls this method before it shows a button.
    ///
    /// # Errors
    /// When the principal lacks the role, or the action is the operator's.
    pub fn allow(&self, action: Action, by: &Principal) -> Result<(), RuntimeError> {
        self.roles.allow(action, by)
    }

    /// Checks that a principal may do this with everything of a tenant. Without a tenant, only the rules are asked. A
    /// refusal is added to the audit trail of the platform.
    pub(crate) async fn allowed(
        &self,
        action: Action,
        tenant: Option<&str>,
        by: &Principal,
    ) -> Result<(), RuntimeError> {
        // With another keyring nothing can be done, and no refusal can be told.
        let store = self.store().await?;
        let allowed = match (tenant, by.tenant()) {
            (Some(tenant), Some(own)) if tenant != own => Err(wording::no_member(by.id(), tenant)),
            _ => self.roles.allow(action, by),
        };
        if let Err(why) = &allowed {
            let event = NewEvent {
                run: PLATFORM.to_owned(),
                tenant: by.tenant().map(str::to_owned),
                kind: AuditKind::Refused,
                actor: Some(by.id().to_owned()),
                subject: Some(action.to_string()),
                tool_name: None,
                detail: None,
            };
            if let Err(error) = store.record(&event).await {
                tracing::error!(refused = %why, %error, "a refusal is not in the audit trail");
            }
        }
        allowed
    }

    /// Returns `true` if a principal may see the contents of all runs of its tenant: the exact arguments of calls of any
    /// risk, and all that was made of them. Without a role for [reading arguments](Action::ReadArguments), that is whoever may
    /// decide about every risk.
    pub fn may_see_contents(&self, by: &Principal) -> bool {
        match self.roles.for_arguments() {
            Some(_) => self.roles.allow(Action::ReadArguments, by).is_ok(),
            None => {
                let may_decide = self.roles.allow(Action::Decide, by).is_ok();
                may_decide && self.roles.at_most(by) == Risk::High
            }
        }
    }

    /// Returns `true` if a principal may read and write in conversations of others.
    pub(crate) fn shares_conversations(&self, by: &Principal) -> bool {
        let Roles {
            risks,
            actions,
            shares_conversations,
        } = &*self.roles;
        let has_role = |action| actions.contains_key(&action);
        let is_of_a_role =
            !risks.is_empty() || has_role(Action::ReadArguments) || has_role(Action::Decide);
        (*shares_conversations || is_of_a_role) && self.may_see_contents(by)
    }

    /// Returns a run if the principal may do this with it, and an error if not. A refusal is added to the audit trail
    /// of the run.
    pub(crate) async fn steered(
        &self,
        action: Action,
        run: &str,
        by: &Principal,
    ) -> Result<Run, RuntimeError> {
        // With another keyring nothing can be steered, and no refusal can be told.
        self.store().await?;
        let known = self.known(run).await?;
        let visible = self.visible(run, by).await;
        let allowed = visible.and_then(|run| self.roles.allow(action, by).map(|()| run));
        if let Err(error) = &allowed {
            self.refused(&known, Some(by.id()), None, None, error).await;
        }
        allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grace() -> Principal {
        Principal::new("grace", "acme")
    }

    #[test]
    fn the_operator_may_do_everything() {
        let roles = Roles::new().for_action(Action::Cancel, "dispatcher");
        for &action in Action::ALL {
            roles.allow(action, &Principal::operator()).unwrap();
        }
    }

    #[test]
    fn what_is_reserved_needs_its_role() {
        let named = |action| Roles::new().for_action(action, "chief");
        let chief = grace().role("chief");
        for &action in Action::ALL {
            let is_open = Roles::new().allow(action, &grace()).is_ok();
            assert_eq!(is_open, !action.is_reserved(), "{action}");
            assert!(named(action).allow(action, &grace()).is_err(), "{action}");
            let is_allowed = named(action).allow(action, &chief).is_ok();
            assert_eq!(is_allowed, !action.is_of_the_platform(), "{action}");
        }
    }

    #[test]
    fn a_risk_needs_the_roles_of_all_risks_below_it() {
        let roles = Roles::new()
            .for_risk(Risk::Medium, "clerk")
            .for_risk(Risk::High, "treasurer");
        let judge = |risk, by: Principal| {
            let nobody = (None, None);
            roles.allow_judge(Action::Decide, risk, nobody, &by).is_ok()
        };
        assert!(judge(Risk::Low, grace()) && !judge(Risk::Medium, grace()));
        assert!(judge(Risk::Medium, grace().role("clerk")));
        assert!(!judge(Risk::High, grace().role("treasurer")));
        assert!(judge(Risk::High, grace().role("treasurer").role("clerk")));
    }
}
