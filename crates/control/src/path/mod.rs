//! The path of a call: resolve ► circuit ► rate and reservation ► send ► settle, for each model of the chain in turn.

mod hold;
mod resolve;
mod send;
mod settle;
mod span;
mod verdict;

use crate::{
    Candidate, Cost, ResolvedProfile, circuit::Permit, owner::circuit_of, plane::Plane, wording,
};
use agents_core::{
    PurposeKey,
    model::{ModelError, ModelErrorKind, Patience, Reply, Request},
    tool::Scope,
};
use send::Streamed;
use std::{sync::OnceLock, time::Duration};
use tokio::time::sleep;
use verdict::Verdict;

/// Maximum number of times that a request is sent again to the same model.
const RETRIES: u32 = 3;
/// Time within which the reply has to begin, if there is another model to ask.
const FIRST_TOKEN: Duration = Duration::from_secs(10);
/// Time after which a request is given up if its server sends no further byte.
const IDLE: Duration = Duration::from_secs(30);

/// End of a request: the reply or the error, and all that was sent for it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Answer {
    /// Reply, or the error of the model that was tried last. That error also names the failures of the models before
    /// it. If no model was tried, because no profile is active or the profiles cannot be read, it is the error that
    /// says so.
    pub result: Result<Reply, ModelError>,
    /// Requests that were sent for this answer, in order: several if models failed.
    pub sends: Vec<Sent>,
}

/// A request that was sent to a model.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Sent {
    /// Model that the request was sent to.
    pub to: Candidate,
    /// Time from the request to the end of the reply, or to the error.
    pub took: Duration,
    /// Error of the request; `None` if the model has replied.
    pub error: Option<ModelError>,
    /// Cost of the request. If the cost is not known, it is the amount that was held for the request; `None` if no
    /// amount was held, for instance because the model has no price.
    pub cost: Option<Cost>,
}

/// Request that is on its way: it is sent to the models of a profile, one after the other, until one answers.
struct Call<'a> {
    plane: &'a Plane,
    scope: &'a Scope,
    profile: &'a ResolvedProfile,
    request: Request<'a>,
    streamed: &'a Streamed,
    sends: Vec<Sent>,
    /// Is `true` if the call has been counted for the rate limit, so that a repetition of its request is not counted.
    is_counted: bool,
    /// Number of bytes of the request, computed when it is needed.
    bytes: OnceLock<u64>,
    failed: Option<Failed>,
}

/// Failure of the model that was asked last.
struct Failed {
    /// Name of the model that has failed.
    model: String,
    error: ModelError,
    /// Error of this model, together with the failures of the models before it.
    all: ModelError,
}

/// Result of asking one model of the profile, which decides whether the next one is asked.
enum Asked {
    Answered(Box<Reply>),
    /// The model failed, and the next model of the profile may answer.
    Passed,
    /// The model failed, and no other model is asked.
    Over,
}

impl Plane {
    pub(crate) async fn answer(
        &self,
        purpose: &PurposeKey,
        scope: &Scope,
        request: Request<'_>,
    ) -> Answer {
        let profile = match resolve::profile(self, purpose, scope, request.run_id()).await {
            Ok(profile) => profile,
            Err(error) => return Answer::refused(error),
        };
        let streamed = Streamed::default();
        let mut call = Call {
            plane: self,
            scope,
            profile: &profile,
            request,
            streamed: &streamed,
            sends: Vec::new(),
            is_counted: false,
            bytes: OnceLock::new(),
            failed: None,
        };
        self.retries.add(scope.tenant_id()).await;
        for (index, candidate) in profile.chain.iter().enumerate() {
            if let Some(Failed { model, error, .. }) = &call.failed {
                request.failed(model, error);
            }
            let is_last = index + 1 == profile.chain.len();
            match call.ask(candidate, is_last).await {
                Asked::Answered(mut reply) => {
                    let mut sends = call.sends.iter();
                    reply.cost_nanos = sends.try_fold(0_u64, |sum, sent| {
                        Some(sum.saturating_add(sent.cost?.nanos()))
                    });
                    return Answer {
                        result: Ok(*reply),
                        sends: call.sends,
                    };
                }
                Asked::Passed => {}
                Asked::Over => break,
            }
        }
        let error = call.failed.map(|failed| failed.all);
        Answer {
            result: Err(error.unwrap_or_else(|| wording::no_profile(purpose, scope.tenant_id()))),
            sends: call.sends,
        }
    }
}

impl Answer {
    /// Returns the model that answered; `None` if none did.
    pub fn answered(&self) -> Option<&Candidate> {
        let last = self.sends.last()?;
        last.error.is_none().then_some(&last.to)
    }

    fn refused(error: ModelError) -> Self {
        Answer {
            result: Err(error),
            sends: Vec::new(),
        }
    }
}

impl Call<'_> {
    /// Asks one model of the profile, and asks it again if that may help.
    async fn ask(&mut self, candidate: &Candidate, is_last: bool) -> Asked {
        let id = format!("{}/{}", candidate.provider, candidate.model);
        let client = match self.client(candidate).await {
            Ok(client) => client,
            Err(error) => return self.fail(&id, &error, Asked::Passed),
        };
        if let Err(error) = self.request.check_media(&*client) {
            return self.fail(&id, &error, Asked::Passed);
        }
        let key = circuit_of(self.profile, self.scope, candidate);
        let patience = Patience {
            first_token: (!is_last).then_some(FIRST_TOKEN),
            idle: Some(IDLE),
        };
        let mut attempt = 1;
        loop {
            let permit = match self.plane.circuits.enter(&key).await {
                Ok(permit) => permit,
                Err(open) => {
                    let error = wording::open_circuit(candidate, open.0);
                    return self.fail(&id, &error, Asked::Passed);
                }
            };
            let is_probe = permit.is_probe();
            let holding = match self.hold(candidate, permit.circuit()).await {
                Ok(holding) => holding,
                // No other model is within the limits that this call has met, but another price may be known.
                Err(error) => {
                    let asked = match error.kind() {
                        ModelErrorKind::Setup => Asked::Passed,
                        _ => Asked::Over,
                    };
                    return self.fail(&id, &error, asked);
                }
            };
            let sent = self.send(&*client, candidate, patience, holding).await;
            let error = match sent {
                Ok(reply) => {
                    permit.answered().await;
                    return Asked::Answered(reply);
                }
                Err(error) => error,
            };
            judge(permit, &error).await;
            let begun = self.streamed.anything();
            let wait = match verdict::of(&error, begun, is_last) {
                Verdict::Stop => return self.fail(&id, &error, Asked::Over),
                Verdict::Next => return self.fail(&id, &error, Asked::Passed),
                Verdict::Again => verdict::wait(attempt, error.retry_after(), is_last),
            };
            let may = attempt <= RETRIES && !is_probe;
            let Some(wait) = wait.filter(|_| may) else {
                return self.fail(&id, &error, Asked::Passed);
            };
            if !self.plane.retries.take(self.scope.tenant_id()).await {
                return self.fail(&id, &error, Asked::Passed);
            }
            self.request.failed(&id, &error);
            sleep(wait).await;
            attempt += 1;
        }
    }

    /// Records the failure of a model, together with the failures of the models before it.
    fn fail(&mut self, id: &str, error: &ModelError, asked: Asked) -> Asked {
        let before = self.failed.as_ref();
        let before = before.map(|failed| (&*failed.model, &failed.all));
        self.failed = Some(Failed {
            model: id.to_owned(),
            error: error.clone(),
            all: wording::after(error, before),
        });
        asked
    }
}

/// Tells the circuit of a model how a request to it ended. A request that the client has not sent says nothing about
/// the model.
async fn judge(permit: Permit, error: &ModelError) {
    match verdict::has_failed(error) {
        Some(true) => permit.failed().await,
        Some(false) => permit.answered().await,
        None => drop(permit),
    }
}
