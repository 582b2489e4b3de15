use super::{ApprovalReason, Repairs};
use crate::{
    Json,
    error::DenialReason,
    evidence::Origin,
    tool::{AnswerForm, Effects, Risk},
};
use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

/// A tool call that needs approval before it may run.
///
/// ```
/// # use agents_core as agents;
/// use agents::run::{Approval, ApprovalRequest};
///
/// async fn small_sums(request: ApprovalRequest) -> Approval {
///     let args = request.args.to_value().unwrap_or_default();
///     match args["amount"].as_u64() {
///         Some(amount) if amount <= 100 => Approval::Approve,
///         _ => Approval::Revise { note: "at most 100 at once".into() },
///     }
/// }
/// # use agents::{Agent, agent::ModelAgent};
/// # async fn run(agent: ModelAgent<'_, String, String>) -> Result<(), agents::Error> {
/// agent.run("Pay the bills.").approver(small_sums).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// Id of the request in its run. It stays the same when the run goes on in another process, and changes when the
    /// arguments change.
    #[serde(default)]
    pub id: String,
    /// Name of the agent that makes the call.
    pub agent_name: String,
    /// Name of the tool that is called, as the agent's model knows it.
    pub tool_name: String,
    /// Version of the tool that is called; empty if code runs a delegate.
    #[serde(default)]
    pub tool_version: String,
    /// Arguments with which the call would run, repairs included.
    pub args: Json,
    /// Changes made to the arguments since the model wrote them, and tries in vain, in order.
    #[serde(default, skip_serializing_if = "Repairs::is_empty")]
    pub repairs: Repairs,
    /// Origins of the [known](crate::evidence::Known) values among the arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<Origin>,
    /// Effects on the outside world that the tool declares.
    pub effects: Effects,
    /// Risk of the call: how much a mistake would cost.
    pub risk: Risk,
    /// Words that say what the call would do; `None` if the tool does not declare them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect_description: Option<String>,
    /// Id of the call's receipt. If code runs a delegate, the delegate's place in the run.
    pub call_id: String,
    /// Reasons why a person has to approve the call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<ApprovalReason>,
    /// Is `true` if the effects of the tool leave the organisation.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub external: bool,
    /// Is `true` if the tool declares that the effect of a call cannot be undone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub irreversible: bool,
    /// Id of the earlier request that this one follows; `None` if it follows no other. The approver of the earlier
    /// request gave these arguments. They have a higher risk than that approver may approve, or the same call has run
    /// before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follows: Option<String>,
    /// Question that the call asks. It is set for a call of [`Ask`](crate::tool::Ask), which needs an
    /// [answer](Approval::answer) in place of an approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<Box<Question>>,
}

/// Question of an agent to a person, with what may be answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Question {
    /// Question in words, as the model wrote it.
    pub text: String,
    /// Form of the answers: their schema, the default and the time to answer.
    pub form: AnswerForm,
}

impl ApprovalRequest {
    /// Creates a request about a tool that writes, for tests of an [`Approver`]. The other fields can be set afterwards.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::{Json, run::ApprovalRequest, tool::Risk};
    ///
    /// let mut request = ApprovalRequest::new("payer", "pay", Json::parse(r#"{"amount": 900}"#)?);
    /// request.risk = Risk::High;
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn new(agent: impl Into<String>, tool: impl Into<String>, args: Json) -> Self {
        ApprovalRequest {
            id: String::new(),
            agent_name: agent.into(),
            tool_name: tool.into(),
            tool_version: String::new(),
            args,
            repairs: Repairs::default(),
            known: Vec::new(),
            effects: Effects::Writes,
            risk: Risk::Medium,
            effect_description: None,
            call_id: String::new(),
            reasons: Vec::new(),
            external: false,
            irreversible: false,
            follows: None,
            question: None,
        }
    }
}

/// Answer of an [`Approver`] to a request: may the call run?
///
/// ```
/// # use agents_core as agents;
/// use agents::run::{Approval, ApprovalRequest};
///
/// async fn at_the_till(request: ApprovalRequest) -> Approval {
///     let args = request.args.to_value().unwrap_or_default();
///     match args["amount"].as_u64() {
///         Some(..=100) => Approval::Approve,
///         Some(..=1_000) => Approval::Revise { note: "pay in parts of 100".into() }, // the model tries again
///         _ => Approval::deny("sums like this are for people"),
///     }
/// }
/// # let _ = at_the_till;
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Approval {
    /// The call may run with its arguments. A call that [asks a question](ApprovalRequest::question) is denied by this
    /// decision, since such a call needs an answer.
    Approve,
    /// The call may run with other arguments than its own; [`approve_with`](Approval::approve_with) creates this
    /// approval.
    ///
    /// The arguments are read strictly, and the run's policies judge them. If they do not fit or a policy denies them,
    /// the call is denied. A call that asks a question, and a delegate that code runs, are denied in any case.
    ApproveWith {
        /// Arguments with which the call runs in place of its own.
        args: Json,
    },
    /// The question of the call is answered; [`answer`](Approval::answer) creates this approval.
    ///
    /// Only a call that [asks a question](ApprovalRequest::question) may be answered; any other call is denied.
    Answer {
        /// Answer, which has to follow the schema of the question's form.
        answer: Json,
    },
    /// The call may not run, and the model is told why.
    Deny {
        /// Reason of the denial, which the model is told.
        reason: String,
    },
    /// The call may not run with these arguments. The model is told what to change, and may make a changed call.
    Revise {
        /// Change that is asked for, in words for the model.
        note: String,
    },
    /// The call may not run: nobody decided in time, the approval was not used in time, or the run has no approver for
    /// a question. The model is told so. The call of a question gets the default answer instead, if the question has a
    /// default.
    Expired {
        /// Text for the error: what was not done within the time limit, or that there is no approver.
        reason: String,
    },
}

impl Approval {
    /// Creates an approval with other arguments than those that were asked about.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::run::{Approval, ApprovalRequest};
    ///
    /// async fn at_most_100(request: ApprovalRequest) -> Approval {
    ///     let mut args = request.args.to_value().unwrap_or_default();
    ///     let Some(amount) = args["amount"].as_u64() else {
    ///         return Approval::deny("there is no amount");
    ///     };
    ///     args["amount"] = amount.min(100).into();
    ///     Approval::approve_with(args)
    /// }
    /// # let _ = at_most_100;
    /// ```
    pub fn approve_with(args: serde_json::Value) -> Self {
        Approval::ApproveWith {
            args: Json::of(&args).unwrap_or_else(|_| Json::null()),
        }
    }

    /// Creates the answer to a question of [`Ask`](crate::tool::Ask).
    ///
    /// # Panics
    /// If the value cannot be written as JSON, for instance because a key of a map cannot be written as text.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::run::{Approval, ApprovalRequest};
    ///
    /// async fn always_yes(request: ApprovalRequest) -> Approval {
    ///     match request.question {
    ///         Some(_) => Approval::answer(true),
    ///         None => Approval::deny("this approver only answers questions"),
    ///     }
    /// }
    /// # let _ = always_yes;
    /// ```
    pub fn answer(answer: impl Serialize) -> Self {
        Approval::Answer {
            answer: Json::of(&answer)
                .unwrap_or_else(|error| panic!("the answer cannot be written as JSON: {error}")),
        }
    }

    /// Creates a denial with this reason.
    pub fn deny(reason: impl Into<String>) -> Self {
        Approval::Deny {
            reason: reason.into(),
        }
    }

    /// Names the person or program that decided; the name is in the call's receipt, in the journal and in pictures of
    /// the run.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::run::{Approval, ApprovalRequest, ApprovalDecision};
    ///
    /// async fn on_duty(request: ApprovalRequest) -> ApprovalDecision {
    ///     match request.tool_name.as_str() {
    ///         "pay" => Approval::deny("not on a Friday").by("Ada"),
    ///         _ => Approval::Approve.by("Grace"),
    ///     }
    /// }
    /// # fn takes(_: impl agents::run::Approver) {}
    /// # takes(on_duty);
    /// ```
    pub fn by(self, name: impl Into<String>) -> ApprovalDecision {
        ApprovalDecision {
            approval: self,
            by: Some(name.into()),
            at_most: None,
        }
    }

    /// Returns the reason for the call's error if this decision is a denial or has expired; `None` for all other
    /// decisions, a demand to revise the call included.
    pub(crate) fn denial_reason(&self) -> Option<DenialReason> {
        match self {
            Approval::Deny { .. } => Some(DenialReason::ApprovalDenied),
            Approval::Expired { .. } => Some(DenialReason::ApprovalExpired),
            Approval::Approve
            | Approval::ApproveWith { .. }
            | Approval::Answer { .. }
            | Approval::Revise { .. } => None,
        }
    }
}

/// Decision of an approver, with the name of its author if that is known; [`Approval::by`] creates one.
///
/// ```
/// # use agents_core as agents;
/// use agents::{run::{Approval, ApprovalDecision}, tool::Risk};
///
/// // Ada may approve what does little harm. If her arguments make the risk higher, the call asks again.
/// let decision = Approval::Approve.by("ada").at_most(Risk::Low);
/// assert_eq!(decision.by.as_deref(), Some("ada"));
///
/// // A decision of nobody in particular, without a bound.
/// let decision = ApprovalDecision::from(Approval::deny("not at night"));
/// assert_eq!((decision.by, decision.at_most), (None, None));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ApprovalDecision {
    /// Answer of the approver: may the call run?
    pub approval: Approval,
    /// Name of the person or program that decided; `None` if the approver gave no name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Highest risk that the author of the decision may approve; `None` if there is no bound. If the arguments of an
    /// [`ApproveWith`](Approval::ApproveWith) have a higher risk, the call asks again. A plain
    /// [`Approve`](Approval::Approve) is not checked against the bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<Risk>,
}

impl ApprovalDecision {
    /// Sets the highest risk that the author of the decision may approve with other arguments; no bound by default.
    #[must_use]
    pub fn at_most(mut self, risk: Risk) -> Self {
        self.at_most = Some(risk);
        self
    }
}

impl From<Approval> for ApprovalDecision {
    fn from(approval: Approval) -> Self {
        ApprovalDecision {
            approval,
            by: None,
            at_most: None,
        }
    }
}

/// Decides about calls that need approval. Async functions `Fn(ApprovalRequest) -> Approval` implement the trait, and
/// so do those that return an [`ApprovalDecision`].
///
/// ```
/// # use agents_core as agents;
/// use agents::run::{Approval, ApprovalRequest, Approver};
///
/// async fn office_hours(request: ApprovalRequest) -> Approval {
///     if request.tool_name == "send_mail" { Approval::deny("not at night") } else { Approval::Approve }
/// }
/// fn takes(_: impl Approver) {}
/// takes(office_hours);
/// ```
///
/// An `Arc` of an approver is passed on by a function, since functions are approvers themselves:
///
/// ```
/// # use agents_core as agents;
/// use agents::run::{Approval, Approver};
/// use std::sync::Arc;
///
/// fn shared(desk: Arc<dyn Approver>) -> impl Approver {
///     move |request| desk.decide(request)
/// }
/// # shared(Arc::new(|_| async { Approval::Approve }));
/// ```
#[diagnostic::on_unimplemented(
    message = "this cannot decide about calls that need approval",
    label = "expected an async function that takes an `ApprovalRequest` and gives an `Approval`",
    note = "a closure is `|request: ApprovalRequest| async move {{ Approval::Approve }}`"
)]
pub trait Approver: Send + Sync + 'static {
    /// Decides about one call. The call waits for the returned future without a time limit, except for the time to
    /// answer a [question](ApprovalRequest::question); other calls of the run go on.
    fn decide(&self, request: ApprovalRequest) -> BoxFuture<'static, ApprovalDecision>;

    /// Returns `true` if the approver itself lets a question [expire](Approval::Expired) when its time is over. By default,
    /// the run does so.
    fn keeps_time(&self) -> bool {
        false
    }
}

#[diagnostic::do_not_recommend]
impl<F, Fut> Approver for F
where
    F: Fn(ApprovalRequest) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: Into<ApprovalDecision>> + Send + 'static,
{
    fn decide(&self, request: ApprovalRequest) -> BoxFuture<'static, ApprovalDecision> {
        let decided = self(request);
        Box::pin(async { decided.await.into() })
    }
}
