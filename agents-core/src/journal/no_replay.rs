//! Stand-in for the replay in a build without the feature `recordings`: a type without values, since no run is a replay
//! there.

use super::{
    Call,
    replayed::{Dropped, Executed},
};
use crate::{
    Json,
    recovery::Plan,
    run::{ApprovalDecision, Attachment, Instruction},
    tool::RemoteTool,
};
use std::sync::Arc;

/// Replay of a recorded run, of which there is none.
pub(crate) enum Replay {}

impl Replay {
    pub(crate) fn goes_on(&self) {
        match *self {}
    }

    pub(crate) async fn may_end(&self, _path: &str, _so_far: impl Fn() -> (u32, Vec<String>)) {
        match *self {}
    }

    pub(crate) fn owes_results(&self, _agent: &str, _turn: u32, _open: &[String]) -> bool {
        match *self {}
    }

    pub(crate) fn instructions(&self, _agent: &str, _turn: u32) -> Vec<Instruction> {
        match *self {}
    }

    pub(crate) fn has_executed(&self, _path: &str) -> bool {
        match *self {}
    }

    pub(crate) fn has_asked(&self, _path: &str) -> bool {
        match *self {}
    }

    pub(crate) fn execution(
        &self,
        _path: String,
        _call: &Call,
        _args: Json,
    ) -> Result<Executed, String> {
        match *self {}
    }

    pub(crate) fn decision(
        &self,
        _path: &str,
        _tool: &str,
        _args: &Json,
    ) -> Result<Result<ApprovalDecision, Dropped>, String> {
        match *self {}
    }

    pub(crate) fn plan(&self, _path: &str) -> Option<Option<Plan>> {
        match *self {}
    }

    pub(crate) fn listed(&self, _path: String, _from: &str) -> Option<Arc<[RemoteTool]>> {
        match *self {}
    }

    pub(crate) fn kept(&self, _path: &str) -> Option<Attachment> {
        match *self {}
    }

    pub(crate) fn is_kept(&self, _dropped: Dropped) -> String {
        match *self {}
    }
}
