//! Purposes: the uses of models.

use super::Model;
use crate::scope::Scope;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::{borrow::Cow, fmt, sync::Arc};

/// Purpose for which a model is asked.
///
/// An agent may name a purpose in place of a model. A control plane then says which model answers, for which tenant,
/// and within which limits. Costs are summed by purpose as well.
///
/// ```
/// # use agents_core as agents;
/// use agents::PurposeKey;
///
/// static TRIAGE: PurposeKey = PurposeKey::extra("triage");
/// assert_eq!(PurposeKey::AgentTurn.as_str(), "agent_turn");
/// assert_eq!(TRIAGE.to_string(), "triage");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum PurposeKey {
    /// Scores of an evaluation: many calls, sensitive to cost.
    Scoring,
    /// Detection of deception, validation of parsed text: many calls, very sensitive to cost.
    Detection,
    /// Diagnosis, optimisation and rewriting: quality counts more than cost.
    Reasoning,
    /// Turns of an agent in a conversation.
    AgentTurn,
    /// Calls of tools by an agent.
    AgentTool,
    /// Agents that explore a world and make hypotheses about it.
    WorldAgent,
    /// Agents of customers whose runs are repeated.
    CustomerReplay,
    /// Embeddings of texts; reserved for later versions.
    Embedding,
    /// Purpose of an application, which its control plane registers.
    Extra(Cow<'static, str>),
}

impl PurposeKey {
    /// Purposes that every control plane has.
    pub const ALL: [PurposeKey; 8] = [
        PurposeKey::Scoring,
        PurposeKey::Detection,
        PurposeKey::Reasoning,
        PurposeKey::AgentTurn,
        PurposeKey::AgentTool,
        PurposeKey::WorldAgent,
        PurposeKey::CustomerReplay,
        PurposeKey::Embedding,
    ];

    /// Creates a purpose of an application. A control plane refuses a purpose that is not registered there.
    pub const fn extra(name: &'static str) -> Self {
        PurposeKey::Extra(Cow::Borrowed(name))
    }

    /// Returns the name of the purpose, as it is stored: `scoring`, or the application's own.
    pub fn as_str(&self) -> &str {
        match self {
            PurposeKey::Scoring => "scoring",
            PurposeKey::Detection => "detection",
            PurposeKey::Reasoning => "reasoning",
            PurposeKey::AgentTurn => "agent_turn",
            PurposeKey::AgentTool => "agent_tool",
            PurposeKey::WorldAgent => "world_agent",
            PurposeKey::CustomerReplay => "customer_replay",
            PurposeKey::Embedding => "embedding",
            PurposeKey::Extra(name) => name,
        }
    }
}

/// Source of models for purposes, such as a control plane.
///
/// ```
/// # use agents_core as agents;
/// # use agents::testing::{Script, ScriptedModel};
/// use agents::{Agent, AgentBuilder, Model, PurposeKey, model::Purposes, tool::Scope};
/// use std::sync::Arc;
///
/// /// One model for all purposes.
/// struct Everything(Arc<dyn Model>);
///
/// impl Purposes for Everything {
///     fn model(&self, _purpose: &PurposeKey, _scope: &Scope) -> Arc<dyn Model> {
///         self.0.clone()
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agents::Error> {
/// # let (model, _) = ScriptedModel::new([Script::text("Oslo")]);
/// let agent = AgentBuilder::<String, String>::new("geographer").purpose(PurposeKey::Reasoning).build();
/// let run = agent.run("Norway").purposes(Everything(Arc::new(model)));
/// assert_eq!(run.await?, "Oslo");
/// # Ok(())
/// # }
/// ```
pub trait Purposes: Send + Sync + 'static {
    /// Returns the model that stands for a purpose in a scope. The model's [`id`](Model::id) must depend on the purpose
    /// alone, so that a conversation can go on after the models behind the purpose have changed.
    fn model(&self, purpose: &PurposeKey, scope: &Scope) -> Arc<dyn Model>;

    /// Takes note whether an answer of the model of an agent with a purpose fits; by default, the method does nothing.
    /// An answer does not fit if no repair could mend it, or if the model declined to give it. The method is called for
    /// each answer, also for one that the model is then asked to correct.
    fn judged(&self, run_id: &str, purpose: &PurposeKey, fits: bool) {
        let _ = (run_id, purpose, fits);
    }

    /// Returns `true` if the model of this name may be asked; by default, every model may. An implementation admits the
    /// models that stand for a purpose. It may also admit models that agents or runs bring themselves. For a model with
    /// a [fallback](super::Fallback), the method is called with the names of both.
    fn admits(&self, model: &str) -> bool {
        let _ = model;
        true
    }
}

impl<P: Purposes + ?Sized> Purposes for Arc<P> {
    fn model(&self, purpose: &PurposeKey, scope: &Scope) -> Arc<dyn Model> {
        (**self).model(purpose, scope)
    }

    fn judged(&self, run_id: &str, purpose: &PurposeKey, fits: bool) {
        (**self).judged(run_id, purpose, fits);
    }

    fn admits(&self, model: &str) -> bool {
        (**self).admits(model)
    }
}

impl From<&str> for PurposeKey {
    /// Returns the purpose of this name; a purpose of an application if no purpose in [`ALL`](Self::ALL) has the name.
    fn from(name: &str) -> Self {
        let mut all = Self::ALL.into_iter();
        let known = all.find(|purpose| purpose.as_str() == name);
        known.unwrap_or_else(|| PurposeKey::Extra(Cow::Owned(name.to_owned())))
    }
}

impl fmt::Display for PurposeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for PurposeKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for PurposeKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = Cow::<'de, str>::deserialize(deserializer)?;
        Ok(PurposeKey::from(&*name))
    }
}

#[cfg(test)]
mod tests {
    use super::PurposeKey;

    #[test]
    fn l1_purposes_on_the_wire() {
        let wire = serde_json::to_string(&PurposeKey::ALL).unwrap();
        assert_eq!(
            wire,
            r#"["scoring","detection","reasoning","agent_turn","agent_tool","world_agent","customer_replay","embedding"]"#
        );
        let read: Vec<PurposeKey> = serde_json::from_str(&wire).unwrap();
        assert_eq!(read, PurposeKey::ALL);
        let extra: PurposeKey = serde_json::from_str(r#""triage""#).unwrap();
        assert_eq!(extra, PurposeKey::extra("triage"));
    }
}
