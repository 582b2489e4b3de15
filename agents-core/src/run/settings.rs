use super::Run;
use crate::{Agent, secret::Secrets};
use std::sync::Arc;

/// More to say about a run.
impl<A: Agent> Run<'_, A> {
    /// Who is asked for the secrets that tools want, for the [scope](Run::scope) of the run; see
    /// [`secret`](crate::secret).
    pub fn secrets(mut self, secrets: impl Secrets) -> Self {
        self.settings.keeper_of_secrets = Some(Arc::new(secrets));
        self.root()
    }
}
