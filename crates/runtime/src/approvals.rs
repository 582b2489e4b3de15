//! Requests for approval, and decisions about them, from any process.

use crate::{
    Action, Approval, Client, Principal, RuntimeError,
    data::{entries, key_of, opened, sealed},
    error::RuntimeErrorKind,
    proofs::{answer_of, detail_of, edited_of, proof_of_decision},
    run_key::RunKey,
    trail::CheckedTrail,
};
use agents_core::{
    Json,
    journal::{Asked, Follower},
    run::{ApprovalReason, ApprovalRequest, Timestamp},
    tool::Risk,
};
use agents_store::{Answer, ApprovalFilter, ApprovalStatus, Decision, Run};
use futures_util::stream::{self, StreamExt};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{collections::BTreeMap, time::Duration};

/// Default time within which a run has to use an approval, counted from the decision.
pub(crate) const USE_WITHIN: Duration = Duration::from_secs(24 * 60 * 60);
/// Maximum number of decisions that [`decide_all`](Approvals::decide_all) makes at the same time.
const AT_ONCE: usize = 8;
/// Prefix of the name that stands for a policy as the decider.
pub(crate) const BY_POLICY: &str = "policy:";

/// Requests for approval of a store: lists them, and decides about them. [`Client::approvals`] and
/// [`Runtime::approvals`](crate::Runtime::approvals) return them.
///
/// ```
/// use agents_runtime::{Approval, Client, Principal};
/// use std::{error::Error, time::Duration};
///
/// /// Approves the calls that are about less than 100 dollars, and denies the others.
/// async fn decide(client: &Client, grace: &Principal) -> Result<(), Box<dyn Error>> {
///     // An approval is void if the run does not use it within an hour.
///     let approvals = client.approvals().use_within(Duration::from_secs(60 * 60));
///     for request in approvals.pending(grace).await? {
///         let exact = approvals.detail(&request.id, grace).await?;
///         let args = exact.request.args.to_value()?;
///         let approval = match args["cents"].as_u64() {
///             Some(..10_000) => Approval::Approve,
///             _ => Approval::deny("ask the treasurer"),
///         };
///         approvals.decide(&request.id, approval, grace).await?;
///     }
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Approvals {
    client: Client,
    use_within: Duration,
}

/// Request for approval, as it is shown to whoever may decide. Serialized, it has the fields that pages and webhooks
/// use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Request {
    /// Id of the request, by which deciders name it.
    pub id: String,
    /// Id of the run that made the request.
    pub run_id: String,
    /// Name of the tool that would run.
    pub tool_name: String,
    /// Version of the tool that would run.
    pub tool_version: String,
    /// Name of the agent that calls the tool.
    pub agent_name: String,
    /// Arguments in short, without secrets, addresses and long numbers. The exact arguments are in the
    /// [`detail`](Approvals::detail).
    pub args_summary: String,
    /// Effect of the call in words, for the person who decides.
    pub effect_description: String,
    /// Id that this request has in common with the earlier requests that it revises or
    /// [follows](ApprovalRequest::follows).
    pub correlation_id: String,
    /// Risk of the call: how much a mistake would cost.
    pub risk_level: Risk,
    /// Time at which the request was made.
    pub requested_at: Timestamp,
    /// Time at which the request expires if nobody has decided.
    pub expires_at: Timestamp,
    /// Tenant that the run works for.
    pub tenant_id: String,
    /// User that the run works for; `None` if it works for no particular one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// Reasons why the call needs approval. The list is empty if an earlier version of this crate has stored the
    /// request, or if this version does not know one of the reasons.
    #[serde(default)]
    pub reasons: Vec<ApprovalReason>,
    /// State of the request: whether it is pending, decided, used, expired, or cancelled because its run is over.
    pub status: ApprovalStatus,
    /// Digest of the exact arguments, made with a key of the run.
    pub args_digest: String,
    /// Principal who has decided about the request, or `policy:` and the name of the [mode](crate::Mode) that has
    /// approved it; `None` while there is no decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// Reason of a denial, or note that says how a call is to be changed; `None` for any other request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Exact request, for whoever may see the arguments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RequestDetail {
    /// Request as the run has made it, with its exact arguments; secrets are shown by their names.
    pub request: ApprovalRequest,
    /// JSON Schema of the arguments, as the model was given it; `None` if it is not known.
    pub schema: Option<Value>,
    /// Text of the arguments as the model wrote it, which need not be JSON; `None` if the arguments were not changed
    /// since. Secrets are shown by their names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<String>,
    /// Arguments that the decider has approved in the place of those of the request; `None` if nobody has edited them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved: Option<Json>,
}

/// Data of a run that is read once for all requests of the run in a list.
struct OfRun {
    /// Key of the run, or the reason why the key cannot be unwrapped.
    key: Result<RunKey, RuntimeError>,
    /// Requests of the run as the audit trail tells of them, or the error that names the row that was altered.
    genuine: Result<Vec<agents_store::Approval>, RuntimeError>,
    /// Error for a reader of the list who wrote to the agent of the run, and so may not decide about calls of the run;
    /// `None` for any other reader, and for the operator.
    wrote: Option<RuntimeError>,
}

/// Request with what a principal may see of it and do about it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Readable {
    /// The request, in the same form as in lists.
    pub request: Request,
    /// Request with its exact arguments. It is `None` for a principal who may not see them, and an error if they cannot
    /// be read: the keys of the run are gone, or somebody has altered them.
    pub detail: Option<Result<RequestDetail, RuntimeError>>,
    /// Error that the principal would get for a decision about the request, because of who the principal is. It is
    /// `None` if the principal may decide, or if the request no longer waits for a decision.
    pub refusal: Option<RuntimeError>,
}

impl From<&Asked> for RequestDetail {
    fn from(asked: &Asked) -> Self {
        RequestDetail {
            request: asked.request.clone(),
            schema: asked.schema.clone(),
            written: asked.written.clone(),
            approved: None,
        }
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
            reasons: reasons_of(stored.reasons.as_deref()),
            status: stored.status,
            args_digest: stored.args_digest,
            decided_by: stored.decided_by,
            note: stored.note,
        }
    }
}

/// Reads the reasons of a stored request. If one of them is not known to this version, none is returned.
fn reasons_of(stored: Option<&str>) -> Vec<ApprovalReason> {
    let read = stored.map(serde_json::from_str);
    read.and_then(Result::ok).unwrap_or_default()
}

impl Approvals {
    pub(crate) fn of(client: Client) -> Self {
        Approvals {
            client,
            use_within: USE_WITHIN,
        }
    }

    /// Sets the time from the decision within which a run has to use an approval; 24 hours by default. An approval that
    /// a mode gives always has 24 hours.
    #[must_use]
    pub fn use_within(mut self, time: Duration) -> Self {
        self.use_within = time;
        self
    }

    /// Returns all requests that wait for a decision, the oldest first. A principal of a tenant gets the requests of
    /// that tenant, an operator gets all.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn pending(&self, by: &Principal) -> Result<Vec<Request>, RuntimeError> {
        let mut all = Vec::new();
        let mut filter = ApprovalFilter {
            status: Some(ApprovalStatus::Pending),
            ..ApprovalFilter::default()
        };
        loop {
            let page = self.list(&filter, by).await?;
            let Some(last) = page.last() else {
                return Ok(all);
            };
            filter.after = Some(last.id.clone());
            all.extend(page);
        }
    }

    /// Returns requests, the oldest first. A principal of a tenant sees only requests of that tenant.
    ///
    /// # Errors
    /// When `filter.after` is no request that the principal may see, or the store fails.
    pub async fn list(
        &self,
        filter: &ApprovalFilter,
        by: &Principal,
    ) -> Result<Vec<Request>, RuntimeError> {
        let found = self.stored(filter, by).await?;
        Ok(found.into_iter().map(Request::from).collect())
    }

    /// Returns the stored requests that this principal may see.
    async fn stored(
        &self,
        filter: &ApprovalFilter,
        by: &Principal,
    ) -> Result<Vec<agents_store::Approval>, RuntimeError> {
        let Ok(tenant) = by.narrows(filter.tenant.as_deref()) else {
            return Ok(Vec::new());
        };
        if let Some(after) = &filter.after {
            self.visible(after, by).await?;
        }
        let filter = ApprovalFilter {
            tenant,
            ..filter.clone()
        };
        Ok(self.client.bare_store().approvals(&filter).await?)
    }

    /// Returns the exact request, with all of its arguments, for whoever [may see them](crate::Roles). A refusal is
    /// added to the audit trail.
    ///
    /// # Errors
    /// When the request does not exist for this principal, the principal may not see its arguments, the keys of its run
    /// are gone, the request was altered, or the store fails.
    pub async fn detail(&self, id: &str, by: &Principal) -> Result<RequestDetail, RuntimeError> {
        let seen = async {
            let stored = self.visible(id, by).await?;
            self.may_see(&stored, by)?;
            Ok::<_, RuntimeError>(stored)
        };
        let stored = match seen.await {
            Ok(stored) => stored,
            Err(error) => {
                self.refused(id, by, &error).await;
                return Err(error);
            }
        };
        let run = self.client.known(&stored.run).await?;
        exact(&key_of(&run, &*self.client.keys()?)?, &stored)
    }

    /// Returns the id under which the store has a request that a run tells of in its [events](Client::events).
    pub fn id_of(run: &str, request: &ApprovalRequest) -> String {
        crate::ids::approval_of(run, &request.id)
    }

    /// Returns a request, if this principal may see it.
    ///
    /// # Errors
    /// When the request does not exist for this principal, or the store fails.
    pub async fn get(&self, id: &str, by: &Principal) -> Result<Request, RuntimeError> {
        Ok(self.visible(id, by).await?.into())
    }

    /// Returns a request, with its exact arguments if the principal [may see them](crate::Roles). If the principal may not
    /// decide, the reason is there as well.
    ///
    /// For a principal who may not see the arguments, they are missing. Unlike [`detail`](Approvals::detail), this
    /// method adds no refusal to the audit trail. Arguments that cannot be read are an error in their place.
    ///
    /// # Errors
    /// When the request does not exist for this principal, or the store fails.
    pub async fn get_readable(&self, id: &str, by: &Principal) -> Result<Readable, RuntimeError> {
        let stored = self.visible(id, by).await?;
        self.readable(stored, by, &mut BTreeMap::new()).await
    }

    /// Returns the requests that the principal may see, the oldest first, each with its exact arguments if the
    /// principal [may see them](crate::Roles). If the principal may not decide, the reason is there as well. Arguments
    /// that cannot be read are an error in their place.
    ///
    /// # Errors
    /// When `filter.after` is no request that the principal may see, or the store fails.
    pub async fn list_readable(
        &self,
        filter: &ApprovalFilter,
        by: &Principal,
    ) -> Result<Vec<Readable>, RuntimeError> {
        let (mut all, mut runs) = (Vec::new(), BTreeMap::new());
        for stored in self.stored(filter, by).await? {
            all.push(self.readable(stored, by, &mut runs).await?);
        }
        Ok(all)
    }

    /// Adds to a request what a principal may see of it and do about it. Each run is read only once.
    async fn readable(
        &self,
        mut stored: agents_store::Approval,
        by: &Principal,
        runs: &mut BTreeMap<String, OfRun>,
    ) -> Result<Readable, RuntimeError> {
        let is_seen = self.may_see(&stored, by).is_ok();
        let is_open = stored.status == ApprovalStatus::Pending;
        let mut refusal = self.may_decide(&stored, by).err();
        let mut detail = None;
        if is_seen || (is_open && refusal.is_none()) {
            if !runs.contains_key(&stored.run) {
                let run = self.client.known(&stored.run).await?;
                let key = key_of(&run, &*self.client.keys()?);
                let of_run = OfRun {
                    key,
                    genuine: self.genuine(&run).await,
                    wrote: self.wrote(&run, by).await?,
                };
                runs.insert(stored.run.clone(), of_run);
            }
            let OfRun {
                key,
                genuine,
                wrote,
            } = &runs[&stored.run];
            let altered = match genuine {
                Ok(rows) => {
                    stored = rows
                        .iter()
                        .find(|row| row.id == stored.id)
                        .cloned()
                        .unwrap_or(stored);
                    None
                }
                Err(error) => is_open.then(|| error.clone()),
            };
            refusal = refusal.or_else(|| wrote.clone().filter(|_| !is_question(&stored)));
            refusal = altered.clone().or(refusal);
            detail = is_seen.then(|| match (key, altered) {
                (Err(error), _) => Err(error.clone()),
                (_, Some(altered)) => Err(altered),
                (Ok(key), None) => exact(key, &stored),
            });
        }
        let is_open = stored.status == ApprovalStatus::Pending;
        Ok(Readable {
            refusal: refusal.filter(|_| is_open),
            request: stored.into(),
            detail,
        })
    }

    /// Decides about a request. The first decision counts. The same decision by the same principal once more, as a second
    /// click sends it, returns the request as the first one has left it.
    ///
    /// A request that asks a [question](ApprovalRequest::question) is not approved, but answered with an
    /// [`Approval::Answer`], which has to fit the form of the question; it may also be denied or
    /// [revised](Approval::Revise). The principal has to be one who [may answer](Action::Answer). For other requests,
    /// the following holds.
    ///
    /// The principal who started the run, the user whom it works for, and whoever wrote in its conversation or gave its
    /// agent an instruction may not decide about its requests. Everybody else needs the [roles](crate::Roles) for the
    /// risk of the call. The operator may decide about every request. The arguments of [`Approval::ApproveWith`] have
    /// to fit the schema of the tool exactly.
    ///
    /// # Errors
    /// When the request does not exist for this principal, was decided before, has expired, or is one of a run that is
    /// over; when the principal may not decide. When edited arguments or an answer do not fit, or the request cannot be
    /// decided in this way. When the keys of the run are gone, or the store fails.
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

    /// Makes the same decision about several requests, and returns a result for each request, in the order of the ids.
    /// If one decision fails, the other requests are still decided.
    ///
    /// ```
    /// # use agents_runtime::{Approval, Principal, RuntimeError, Runtime, SqliteStore};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), RuntimeError> {
    /// # let store = SqliteStore::in_memory().await?;
    /// let approvals = Runtime::client(store).approvals();
    /// let grace = Principal::new("grace", "acme");
    /// let open = approvals.pending(&grace).await?;
    /// let small = open.iter().filter(|request| request.tool_name == "pay").map(|request| &request.id);
    /// for decided in approvals.decide_all(small, &Approval::Approve, &grace).await {
    ///     println!("{}", decided?.status);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn decide_all(
        &self,
        ids: impl IntoIterator<Item = impl AsRef<str>>,
        approval: &Approval,
        by: &Principal,
    ) -> Vec<Result<Request, RuntimeError>> {
        let ids: Vec<_> = ids.into_iter().collect();
        let each = ids
            .iter()
            .map(|id| self.decide(id.as_ref(), approval.clone(), by));
        let each: Vec<_> = each.collect();
        stream::iter(each).buffered(AT_ONCE).collect().await
    }

    /// Adds to the audit trail that a principal was not allowed to see or decide a request.
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
        let run = self.client.known(&stored.run).await?;
        // Who may decide about what is said by columns, so they have to be those that were asked.
        let genuine = self.genuine(&run).await?;
        let stored = genuine.into_iter().find(|row| row.id == stored.id);
        let stored = stored.ok_or_else(|| crate::wording::no_request(id))?;
        self.may_decide(&stored, by)?;
        let asks = is_question(&stored);
        let answer = match approval.clone() {
            Approval::Approve | Approval::ApproveWith { .. } if asks => {
                return Err(crate::wording::needs_an_answer(&stored.id));
            }
            Approval::Answer { .. } if !asks => {
                return Err(crate::wording::asks_nothing(&stored.id, &stored.tool_name));
            }
            Approval::Answer { answer } => Answer::Approve {
                edited: Some(self.answered(&stored, &answer).await?),
                edited_digest: None,
                use_within: self.use_within,
            },
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
            Approval::Expired { .. } => {
                return Err(crate::wording::expires_by_itself());
            }
        };
        if let Some(refusal) = self.wrote(&run, by).await?
            && !asks
        {
            return Err(refusal);
        }
        let key = key_of(&run, &*self.client.keys()?)?;
        let at_most = self.client.roles.at_most(by);
        let decision = Decision {
            proof: proof_of_decision(&key, &stored, &answer, by.id(), at_most)?,
            id: id.to_owned(),
            tenant: by.tenant().map(str::to_owned),
            by: by.id().to_owned(),
            answer,
        };
        let error = match self.client.store().await?.decide(&decision).await {
            Ok(decided) => return Ok(decided.into()),
            Err(error) => error,
        };
        let decided = self.visible(id, by).await?;
        match error.kind() == agents_store::ErrorKind::Settled
            && decided.decided_by.as_deref() == Some(by.id())
            && is_decided_so(&key, &decided, &approval)?
        {
            true => Ok(decided.into()),
            false => Err(error.into()),
        }
    }

    /// Returns the requests of a run, whose rows are as its audit trail says; otherwise there is an error.
    async fn genuine(&self, run: &Run) -> Result<Vec<agents_store::Approval>, RuntimeError> {
        let store = self.client.store().await?;
        let data = self.client.data_of(run)?;
        let mut trail = CheckedTrail::new(self.client.audit_key()?, run, &data);
        trail.read(&**store).await?;
        trail.requests(&**store).await
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
        let people = (stored.started_by.as_deref(), stored.user_id.as_deref());
        let roles = &self.client.roles;
        if is_question(stored) {
            return roles.allow_answer(people, by);
        }
        roles.allow_judge(Action::Decide, stored.risk_level, people, by)
    }

    /// Returns the error for a principal who may not decide about the requests of a run because of having written to
    /// its agent, in the conversation or by an instruction; `None` for any other principal, and for the operator.
    async fn wrote(&self, run: &Run, by: &Principal) -> Result<Option<RuntimeError>, RuntimeError> {
        let has_written = !by.is_operator() && self.client.wrote_to_the_agent(run, by).await?;
        let decide = crate::wording::DECIDE;
        Ok(has_written.then(|| crate::wording::wrote_to_the_agent(by.id(), decide)))
    }

    fn may_see(&self, stored: &agents_store::Approval, by: &Principal) -> Result<(), RuntimeError> {
        match self.client.roles.for_arguments() {
            // Whoever may answer has to see the question.
            Some(_) if is_question(stored) && self.may_decide(stored, by).is_ok() => Ok(()),
            None => self.may_decide(stored, by),
            Some(_) => self.client.roles.allow(Action::ReadArguments, by),
        }
    }

    /// Checks the answer to a question, and returns it encrypted.
    async fn answered(
        &self,
        stored: &agents_store::Approval,
        answer: &Json,
    ) -> Result<Vec<u8>, RuntimeError> {
        let run = self.client.known(&stored.run).await?;
        let key = key_of(&run, &*self.client.keys()?)?;
        let detail: RequestDetail = opened(&key, &detail_of(&stored.request), &stored.detail)?;
        let question = detail.request.question;
        let question =
            question.ok_or_else(|| crate::wording::asks_nothing(&stored.id, &stored.tool_name))?;
        let checked = question.form.check(answer);
        checked.map_err(|misfit| crate::wording::answer_unfit(&question.text, &misfit))?;
        sealed(&key, &answer_of(&stored.request), answer)
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

impl Client {
    /// Returns the requests for approval that the filter chooses, the oldest first. If the filter names no tenant, the
    /// requests of all tenants are searched.
    pub(crate) async fn requests(
        &self,
        filter: &ApprovalFilter,
    ) -> Result<Vec<Request>, RuntimeError> {
        let found = self.bare_store().approvals(filter).await?;
        Ok(found.into_iter().map(Request::from).collect())
    }
}

/// Decrypts the exact request, with the arguments that were approved in the place of its own.
fn exact(key: &RunKey, stored: &agents_store::Approval) -> Result<RequestDetail, RuntimeError> {
    let detail: RequestDetail = opened(key, &detail_of(&stored.request), &stored.detail)?;
    Ok(RequestDetail {
        approved: edited_args(key, stored)?,
        ..detail
    })
}

/// Decrypts the arguments that a decider has approved in the place of those of the request; `None` if nobody has edited
/// them.
pub(crate) fn edited_args(
    key: &RunKey,
    stored: &agents_store::Approval,
) -> Result<Option<Json>, RuntimeError> {
    // The answer to a question is stored in the same place.
    let edited = stored.edited.as_ref().filter(|_| !is_question(stored));
    let edited = edited.map(|edited| opened(key, &edited_of(&stored.request), edited));
    edited.transpose()
}

/// Returns `true` if a request was decided as this approval says.
fn is_decided_so(
    key: &RunKey,
    stored: &agents_store::Approval,
    approval: &Approval,
) -> Result<bool, RuntimeError> {
    let note = stored.note.as_deref().unwrap_or_default();
    let is_approved = matches!(
        stored.status,
        ApprovalStatus::Approved | ApprovalStatus::Consumed
    );
    Ok(match (approval, &stored.edited) {
        (Approval::Approve, None) => is_approved,
        (Approval::ApproveWith { args }, Some(_)) => {
            is_approved && edited_args(key, stored)?.as_ref() == Some(args)
        }
        (Approval::Answer { answer }, Some(given)) => {
            is_approved && opened::<Json>(key, &answer_of(&stored.request), given)? == *answer
        }
        (Approval::Deny { reason }, _) => stored.status == ApprovalStatus::Denied && note == reason,
        (Approval::Revise { note: asked }, _) => {
            stored.status == ApprovalStatus::RevisionRequested && note == asked
        }
        _ => false,
    })
}

/// Returns `true` for the request of a call that asks a question.
pub(crate) fn is_question(stored: &agents_store::Approval) -> bool {
    reasons_of(stored.reasons.as_deref()).contains(&ApprovalReason::Question)
}
