//! The model that stands for a purpose.

use crate::{Answer, plane::Plane};
use agents_core::{
    PurposeKey, async_trait,
    model::{Capabilities, Model, ModelError, Reply, Request},
    tool::Scope,
};
use std::{fmt, sync::Arc};

/// Model that stands for a purpose in a scope, made by [`ControlPlane::model`](crate::ControlPlane::model).
///
/// Each request finds the profile that is active at that time. The model keeps its name, such as `purpose/reasoning`,
/// whatever model answers; [`Reply::model`] names the one that did.
#[derive(Clone)]
pub struct Controlled {
    pub(crate) plane: Arc<Plane>,
    pub(crate) purpose: PurposeKey,
    pub(crate) scope: Scope,
    pub(crate) id: String,
}

impl Controlled {
    /// Answers a request. The result has also all that was sent for it: which models were asked, how long each took,
    /// and what it cost. [`chat`](Model::chat) returns the reply alone.
    pub async fn answer(&self, request: Request<'_>) -> Answer {
        self.plane.answer(&self.purpose, &self.scope, request).await
    }
}

#[async_trait]
impl Model for Controlled {
    fn id(&self) -> &str {
        &self.id
    }

    /// Returns all abilities: which model answers is known with each request, and is checked then.
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            images: true,
            files: true,
            ..Capabilities::default()
        }
    }

    fn knows_cost(&self) -> bool {
        true
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        self.answer(request).await.result
    }
}

impl fmt::Debug for Controlled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Controlled")
            .field("purpose", &self.purpose)
            .field("scope", &self.scope)
            .finish_non_exhaustive()
    }
}
