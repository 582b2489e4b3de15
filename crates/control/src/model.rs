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
    ///
    /// ```
    /// use agents_control::{ControlPlane, ModelProfile, Principal, PurposeKey::Reasoning, SqliteStore};
    /// use agents_core::model::{History, Message, Request};
    /// # use agents_core::testing::{Script, ScriptedModel};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (model, _) = ScriptedModel::always(Script::text("Oslo"));
    /// # let control = ControlPlane::open(&SqliteStore::in_memory().await?).provider("mine", move |_| model.clone());
    /// # control.activate(ModelProfile::global(Reasoning).model("mine", "large")).by(&Principal::operator()).await?;
    /// let mut history = History::new();
    /// history.push(Message::User { content: "Norway?".into() });
    /// let answer = control.model(Reasoning, "acme").answer(Request::new(&history)).await;
    ///
    /// assert_eq!(answer.answered().unwrap().model, "large");
    /// assert_eq!(answer.sends.len(), 1); // more, if models had failed
    /// assert_eq!(answer.result?.content, "Oslo");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn answer(&self, request: Request<'_>) -> Answer {
        self.plane.answer(&self.purpose, &self.scope, request).await
    }
}

#[async_trait]
impl Model for Controlled {
    fn id(&self) -> &str {
        &self.id
    }

    /// Returns all abilities, because the model that answers is known only with each request. Its abilities are checked
    /// then.
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
