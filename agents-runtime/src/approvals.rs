//! Requests for approval, and decisions about them, from any process.

use crate::{
    Approval, Client, Principal, RuntimeError,
    data::{entries, key_of, opened, sealed},
    error::RuntimeErrorKind,
    keys::RunKey,
};
use agents_core::{
    Json,
    journal::Follower,
    run::{ApprovalRequest, Timestamp},
    tool::Risk,
};
use agents_store::{Answer, ApprovalFilter, ApprovalStatus, Decision};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{collections::BTreeMap, time::Duration};

/// Time within which an approval has to be used, unless another one is set.
const USE_WITHIN: Duration = Duration::from_secs(24 * 60 * 60);

/// Requests for approval of a store: lists them, and decides about them.
#[derive(Clone, Debug)]
pub struct Approvals {
    client: Client,
    use_within: Duration,
    roles: BTreeMap<Risk, String>,
}

/// Request for approval, as it is shown to whoever may decide. Serialized, it has the fields that pages and webhooks
/// use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Request {
    /// Id of the request.
    pub id: String,
    /// Id of the run.
    pub run_id: String,
    /// Name of the tool.
    pub tool_name: String,
    /// Version of the tool.
    pub tool_version: String,
    /// Name of the calling agent.
    pub agent_name: String,
    /// Arguments in short, without secrets, addresses and long numbers. The exact arguments are in the
    /// [`detail`](Approvals::detail).
    pub args_summary: String,
    /// Effect of the call in words.
    pub effect_description: String,
    /// Id that the request shares with those that it revises.
    pub correlation_id: String,
    /// Risk of the call.
    pub risk_level: Risk,
    /// Time of the request.
    pub requested_at: Timestamp,
    /// Time at which the request expires.
    pub expires_at: Timestamp,
    /// Tenant that the run works for.
    pub tenant_id: String,
    /// User whom the run works for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// State of the request.
    pub status: ApprovalStatus,
    /// Digest of the exact arguments, made with a key of the run.
    pub args_digest: String,
    /// Whoever decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// Reason or note of the decider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Exact request, for whoever may see the arguments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RequestDetail {
    /// Request as the run has made it, with its exact arguments; secrets are shown by their names.
    pub request: ApprovalRequest,
    /// JSON Schema of the arguments.
    pub schema: Option<Value>,
}

impl RequestDetail {
    pub(crate) fn new(request: ApprovalRequest, schema: Option<Value>) -> Self {
        RequestDetail { request, schema }
    }
}

impl From<agents_store::Approval> for Request {
    fn from(stored: agents_store::Approval) -> Self {
        Request {
            id: stored.id,
            run_id: stored.run,
            tool_name: stored.tool_name,
            tool_version: stored.version,
            agent_name: stored.agent_name,
            args_summary: stored.args_summary,
            effect_description: stored.effect_description,
            correlation_id: stored.correlation_id,
            risk_level: stored.risk_level,
            requested_at: stored.requested_at,
            expires_at: stored.expires_at,
            tenant_id: stored.tenant_id,
            user_id: stored.user_id,
            status: stored.status,
            args_digest: stored.args_digest,
            decided_by: stored.decided_by,
            note: stored.note,
        }
    }
}

impl Approvals {
    pub(crate) fn of(client: Client) -> Self {
        Approvals {
            client,
            use_within: USE_WITHIN,
            roles: BTreeMap::new(),
        }
    }

    /// Sets the time within which an approval has to be used; 24 hours by default.
    #[must_use]
    pub fn use_within(mut self, time: Duration) -> Self {
        self.use_within = time;
        self
    }

    /// Demands a role of whoever decides about calls of this risk or a higher one.
    #[must_use]
    pub fn role_for(mut self, risk: Risk, role: impl Into<String>) -> Self {
        self.roles.insert(risk, role.into());
        self
    }

    /// Returns all requests that nobody has decided, the oldest first.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn pending(&self) -> Result<Vec<Request>, RuntimeError> {
        let mut all = Vec::new();
        let mut filter = ApprovalFilter {
            status: Some(ApprovalStatus::Pending),
            ..ApprovalFilter::default()
        };
        loop {
            let page = self.list(&filter).await?;
            let Some(last) = page.last() else {
                return Ok(all);
            };
            filter.after = Some(last.id.clone());
            all.extend(page);
        }
    }

    /// Returns requests, the oldest first.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn list(&self, filter: &ApprovalFilter) -> Result<Vec<Request>, RuntimeError> {
        let found = self.client.bare_store().approvals(filter).await?;
        Ok(found.into_iter().map(Request::from).collect())
    }

    /// Returns the exact request, with all of its arguments.
    ///
    /// # Errors
    /// When the request does not exist for this principal, the keys of its run are gone, or it was altered.
    pub async fn detail(&self, id: &str, by: &Principal) -> Result<RequestDetail, RuntimeError> {
        let stored = self.visible(id, by).await?;
        let run = self.client.known(&stored.run).await?;
        let key = key_of(&run, &*self.client.keys()?)?;
        opened(&key, &detail_of(&stored.request), &stored.detail)
    }

    /// Decides about a request. The first decision counts.
    ///
    /// Whoever started the run, is the user whom it works for, or wrote in its conversation, may not decide about its
    /// requests. With
    /// [`Approval::ApproveWith`], the arguments have to fit the schema of the tool exactly.
    ///
    /// # Errors
    /// When the request does not exist for this principal, was decided before, or has expired; when the principal may not
    /// decide; when edited arguments do not fit.
    pub async fn decide(
        &self,
        id: &str,
        approval: Approval,
        by: &Principal,
    ) -> Result<Request, RuntimeError> {
        // With another keyring nothing can be decided, and no refusal can be told.
        self.client.store().await?;
        let decided = self.decide_unaudited(id, approval, by).await;
        if let Err(error) = &decided {
            self.refused(id, by, error).await;
        }
        decided
    }

    /// Adds to the audit trail that a decision was not allowed.
    async fn refused(&self, id: &str, by: &Principal, error: &RuntimeError) {
        let passes = matches!(
            error.kind(),
            RuntimeErrorKind::Store(agents_store::ErrorKind::Unavailable)
        );
        // The request of another tenant is there, although the principal is told that it is not.
        let Ok(Some(stored)) = self.client.bare_store().approval(id).await else {
            return;
        };
        let Ok(Some(run)) = self.client.bare_store().run(&stored.run).await else {
            return;
        };
        if !passes {
            let (by, tool) = (Some(by.id()), Some(stored.tool_name.as_str()));
            self.client.refused(&run, by, Some(id), tool, error).await;
        }
    }

    async fn decide_unaudited(
        &self,
        id: &str,
        approval: Approval,
        by: &Principal,
    ) -> Result<Request, RuntimeError> {
        let stored = self.visible(id, by).await?;
        self.may_decide(&stored, by)?;
        let answer = match approval {
            Approval::Approve => Answer::Approve {
                edited: None,
                edited_digest: None,
                use_within: self.use_within,
            },
            Approval::ApproveWith { args } => {
                let (edited, digest) = self.edited(&stored, &args).await?;
                Answer::Approve {
                    edited: Some(edited),
                    edited_digest: Some(digest),
                    use_within: self.use_within,
                }
            }
            Approval::Deny { reason } => Answer::Deny(reason),
            Approval::Revise { note } => Answer::Revise(note),
        };
        let run = self.client.known(&stored.run).await?;
        if !by.is_operator() && self.client.wrote_in_conversation(&run, by).await? {
            return Err(crate::wording::wrote_in_the_conversation(by.id()));
        }
        let key = key_of(&run, &*self.client.keys()?)?;
        let proof = Proof {
            status: status_of(&answer),
            by: by.id().to_owned(),
            args_digest: stored.args_digest.clone(),
        };
        let decision = Decision {
            proof: sealed(&key, &decision_of(&stored.request), &proof)?,
            id: id.to_owned(),
            tenant: by.tenant().map(str::to_owned),
            by: by.id().to_owned(),
            answer,
        };
        Ok(self.client.store().await?.decide(&decision).await?.into())
    }

    async fn visible(
        &self,
        id: &str,
        by: &Principal,
    ) -> Result<agents_store::Approval, RuntimeError> {
        let found = self.client.bare_store().approval(id).await?;
        let own = found.filter(|found| by.tenant().is_none_or(|own| own == found.tenant_id));
        own.ok_or_else(|| crate::wording::no_request(id))
    }

    fn may_decide(
        &self,
        stored: &agents_store::Approval,
        by: &Principal,
    ) -> Result<(), RuntimeError> {
        let id = by.id();
        let is = |whom: &Option<String>| !by.is_operator() && whom.as_deref() == Some(id);
        if is(&stored.started_by) {
            return Err(crate::wording::started_the_run(id));
        }
        if is(&stored.user_id) {
            return Err(crate::wording::run_works_for(id));
        }
        let needed = self.roles.range(..=stored.risk_level);
        let missing = needed.map(|(_, role)| role).find(|role| !by.has_role(role));
        match missing {
            Some(role) if !by.is_operator() => {
                Err(crate::wording::role_missing(id, role, stored.risk_level))
            }
            _ => Ok(()),
        }
    }

    /// Checks edited arguments, and returns them encrypted, with their digest.
    async fn edited(
        &self,
        stored: &agents_store::Approval,
        args: &Json,
    ) -> Result<(Vec<u8>, String), RuntimeError> {
        let run = self.client.known(&stored.run).await?;
        let key = key_of(&run, &*self.client.keys()?)?;
        let detail: RequestDetail = opened(&key, &detail_of(&stored.request), &stored.detail)?;
        let tool = &stored.tool_name;
        let Some(schema) = &detail.schema else {
            return Err(crate::wording::schema_missing(tool));
        };
        let schema = agents_core::reader::Schema::new(schema);
        schema
            .fits(args.as_str())
            .map_err(|misfit| crate::wording::misfit(tool, &misfit))?;
        let commits = self.client.bare_store().commits(&run.id, 0).await?;
        let mut follower = Follower::new();
        for entry in entries(&key, 0, &commits)? {
            follower.on(&entry).map_err(RuntimeError::unreadable)?;
        }
        let digest = follower.args_digest(&stored.request, args);
        let digest =
            digest.ok_or_else(|| crate::wording::request_missing(&run.id, &stored.request))?;
        Ok((sealed(&key, &edited_of(&stored.request), args)?, digest))
    }
}

/// Proof of a decision: whoever has no keys of the run cannot make it.
#[derive(PartialEq, Serialize, Deserialize)]
struct Proof {
    status: ApprovalStatus,
    by: String,
    args_digest: String,
}

fn status_of(answer: &Answer) -> ApprovalStatus {
    match answer {
        Answer::Approve { .. } => ApprovalStatus::Approved,
        Answer::Deny(_) => ApprovalStatus::Denied,
        Answer::Revise(_) => ApprovalStatus::RevisionRequested,
    }
}

/// Checks that a stored decision was made by somebody who has the keys of the run.
pub(crate) fn check_decision(
    stored: &agents_store::Approval,
    key: &RunKey,
) -> Result<(), RuntimeError> {
    let status = match stored.status {
        ApprovalStatus::Consumed => ApprovalStatus::Approved,
        status => status,
    };
    let expected = Proof {
        status,
        by: stored.decided_by.clone().unwrap_or_default(),
        args_digest: stored.args_digest.clone(),
    };
    let proof = stored.proof.as_deref().unwrap_or_default();
    match opened::<Proof>(key, &decision_of(&stored.request), proof) {
        Ok(proof) if proof == expected => Ok(()),
        _ => Err(crate::wording::not_decided(
            &stored.id,
            &stored.status,
            &expected.by,
        )),
    }
}

fn decision_of(request: &str) -> String {
    format!("decision about {request}")
}

/// Name of the exact request.
pub(crate) fn detail_of(request: &str) -> String {
    format!("request {request}")
}

/// Name of the arguments that a decider gave.
pub(crate) fn edited_of(request: &str) -> String {
    format!("edited arguments of {request}")
}
