use crate::run::{Limit, Stop};
use std::sync::Arc;

/// Bound of a budget that was passed: which limit, of which agent, and at which level of the tree that agent is.
#[derive(Clone, Debug)]
pub(crate) struct PassedLimit {
    pub(crate) agent: Arc<str>,
    pub(crate) limit: Limit,
    pub(crate) level: u32,
}

impl PassedLimit {
    pub(crate) fn stop(self) -> Stop {
        Stop::Budget {
            agent: self.agent,
            limit: self.limit,
        }
    }
}
