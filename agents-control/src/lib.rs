//! The control plane of `agents`: which model answers for which purpose and tenant, within which limits, and what happens
//! when it is down.
//!
//! An agent names a [`PurposeKey`] in place of a model. A [`ModelProfile`] says which model answers for that purpose. It is
//! data, which an operator changes while the program runs.
//!
//! ```
//! # use agents_core::testing::{Script, ScriptedModel};
//! use agents_control::{ControlPlane, ModelProfile, PurposeKey::Reasoning};
//! use agents_core::{Agent, AgentBuilder};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let (down, _) = ScriptedModel::always(Script::fail("out of memory"));
//! # let (up, _) = ScriptedModel::always(Script::text("Oslo"));
//! let control = ControlPlane::in_memory()
//!     .provider("large", move |_| down.clone()) // for example `openai(target.model)`
//!     .provider("small", move |_| up.clone());
//! control.activate(
//!     ModelProfile::global(Reasoning)
//!         .model("large", "m-70b")
//!         .fallback("small", "m-7b")
//!         .across_providers(),
//! )?;
//!
//! let model = control.model(Reasoning, "acme");
//! let agent = AgentBuilder::<String, String>::new("geographer").model(model).build();
//! assert_eq!(agent.run("Norway").await?, "Oslo");
//! # Ok(())
//! # }
//! ```
//!
//! # The path of a call
//!
//! The profile is resolved, then its models are asked in order, each through its circuit. A request that fails for now is
//! sent again after a back-off, three times at most. After that, the next model of the profile gets it. A model whose
//! requests fail again and again is not asked any more: its circuit is open, until one request at a time shows that it
//! answers again. A request that a filter refused, or that no other model could understand either, goes to no other
//! model.

mod circuit;
mod error;
mod event;
mod model;
mod path;
mod plane;
mod profile;
mod provider;
mod retries;
mod wording;

pub use agents_core::{PurposeKey, run::Cost};
pub use error::{ControlError, ControlErrorKind};
pub use event::ControlEvent;
pub use model::Controlled;
pub use path::{Answer, Sent};
pub use plane::ControlPlane;
pub use profile::{
    ActiveProfiles, Candidate, CredentialSource, ModelProfile, OverrideClass, RateLimit,
    ResolvedProfile, Tier, per_minute, per_second, resolve_active_profile, usd,
};
pub use provider::Target;
