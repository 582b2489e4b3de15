use super::Clock;
use crate::model::Model;
use std::sync::Arc;

/// Stands between a run and what it cannot repeat: its models, its clock, its id.
///
/// A recording writes down what passes through it; a replay answers in their place. The `agents`
/// crate has both, on files.
pub trait Tape: Send + Sync + 'static {
    /// The model to ask instead of `model`, which is `None` when the agent has none at all.
    fn model(&self, model: Option<Arc<dyn Model>>) -> Option<Arc<dyn Model>>;

    /// The clock to read.
    fn clock(&self) -> Arc<dyn Clock>;
}
