use crate::run::{Limit, Stop};
use std::sync::Arc;

/// Bound that was passed: whose bound, which limit, and the level in the tree.
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
