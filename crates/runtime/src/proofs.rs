//! Proofs of decisions about requests, and the names under which the texts of a request are encrypted. Whoever has only the
//! database can make none of them.

use crate::{
    RuntimeError,
    data::{opened, sealed},
    run_key::RunKey,
};
use agents_core::tool::Risk;
use agents_store::{Answer, Approval, ApprovalStatus, NewApproval};
use serde::{Deserialize, Serialize};

/// Returns the proof with which a mode approves a request under this name.
pub(crate) fn proof_of_mode(
    key: &RunKey,
    request: &NewApproval,
    by: &str,
) -> Result<Vec<u8>, RuntimeError> {
    let proof = Proof {
        status: ApprovalStatus::Approved,
        by: by.to_owned(),
        args_digest: request.args_digest.clone(),
        at_most: None,
    };
    sealed(key, &decision_of(&request.request), &proof)
}

/// Proof of a decision about a request, stored with it: whoever has no keys of the run cannot make it.
#[derive(PartialEq, Serialize, Deserialize)]
struct Proof {
    status: ApprovalStatus,
    by: String,
    args_digest: String,
    /// Highest risk that the decider may approve; `None` in proofs of modes and of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at_most: Option<Risk>,
}

fn status_of(answer: &Answer) -> ApprovalStatus {
    match answer {
        Answer::Approve { .. } => ApprovalStatus::Approved,
        Answer::Deny(_) => ApprovalStatus::Denied,
        Answer::Revise(_) => ApprovalStatus::RevisionRequested,
    }
}

/// Returns the proof of a person's decision about a request. `at_most` is the highest risk that the person may approve.
pub(crate) fn proof_of_decision(
    key: &RunKey,
    request: &Approval,
    answer: &Answer,
    by: &str,
    at_most: Risk,
) -> Result<Vec<u8>, RuntimeError> {
    let proof = Proof {
        status: status_of(answer),
        by: by.to_owned(),
        args_digest: request.args_digest.clone(),
        at_most: Some(at_most),
    };
    sealed(key, &decision_of(&request.request), &proof)
}

/// Checks that a stored decision was made by somebody who has the keys of the run. Returns the highest risk that the
/// decider may approve, if the decision says so.
pub(crate) fn check_decision(
    stored: &Approval,
    key: &RunKey,
) -> Result<Option<Risk>, RuntimeError> {
    let status = match stored.status {
        ApprovalStatus::Consumed => ApprovalStatus::Approved,
        status => status,
    };
    let proof = stored.proof.as_deref().unwrap_or_default();
    let proof = opened::<Proof>(key, &decision_of(&stored.request), proof);
    let expected = Proof {
        status,
        by: stored.decided_by.clone().unwrap_or_default(),
        args_digest: stored.args_digest.clone(),
        at_most: proof.as_ref().ok().and_then(|proof| proof.at_most),
    };
    match proof {
        Ok(proof) if proof == expected => Ok(proof.at_most),
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

/// Returns the name under which the exact request is encrypted, which binds the text to the request.
pub(crate) fn detail_of(request: &str) -> String {
    format!("request {request}")
}

/// Returns the name under which the answer to a question is encrypted.
pub(crate) fn answer_of(request: &str) -> String {
    format!("answer to {request}")
}

/// Returns the name under which the arguments that a decider gave are encrypted.
pub(crate) fn edited_of(request: &str) -> String {
    format!("edited arguments of {request}")
}
