//! The rules for branches.

use crate::{diag::Errors, messages, model::Branch};

/// What one tuple of agents holds.
const MOST: usize = 12;

/// Checks one branch.
pub(crate) fn branch(branch: &Branch, errors: &Errors) {
    if branch.targets.is_empty() && errors.is_empty() {
        errors.at(branch.match_token, messages::no_arms());
    }
    if let Some((_, agent)) = branch.targets.get(MOST) {
        errors.at(agent, messages::too_many_targets(MOST));
    }
}
