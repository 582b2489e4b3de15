//! The control plane of `agents`: which model answers for which purpose and tenant, within which limits, and what happens
//! when it is down.
//!
//! An agent names a [`PurposeKey`] in place of a model. A [`ModelProfile`] says which model answers for that purpose. It is
//! data, which an operator changes while the program runs.
//!
//! ```
//! # use agents_core::{model::{ModelError, ModelErrorKind}, testing::{Script, ScriptedModel}};
//! use agents_control::{ControlPlane, ModelProfile, Principal, PurposeKey::Reasoning, SqliteStore};
//! use agents_core::{Agent, AgentBuilder};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let (down, _) = ScriptedModel::always(Script::Fail(ModelError::new(ModelErrorKind::TimedOut, "silent")));
//! # let (up, _) = ScriptedModel::always(Script::text("Oslo"));
//! let store = SqliteStore::in_memory().await?; // or `SqliteStore::open("agents.db").await?`, or PostgreSQL
//! let control = ControlPlane::open(&store)
//!     .provider("large", move |_| down.clone()) // for example `openai(target.model)`
//!     .provider("small", move |_| up.clone());
//! let profile = ModelProfile::global(Reasoning).model("large", "m-70b").fallback("small", "m-7b").across_providers();
//! control.activate(profile).by(&Principal::operator()).await?;
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
//! The profile is resolved, then its models are asked in order, each through its circuit. A request that fails for now
//! is sent again after a back-off, three times at most. After that, the next model of the profile gets it. If there is
//! a next model, it gets a request at once that had no reply in time, or a reply that cannot be read. A model whose
//! requests fail again and again is not asked any more: its circuit is open, until a single request, sent as a test,
//! shows that the model answers again. A request that a filter refused, or that no other model could understand either,
//! goes to no other model.
//!
//! # Features
//!
//! | feature | adds | default |
//! |-|-|-|
//! | `prices` | prices of models, from the table of `genai-prices`; without it, [`Prices`] has those that you give it | yes |
//! | `tls` | HTTPS, and proxies that the environment names, for servers that give tokens | no |
//! | `postgres` | `PostgresStore`: profiles and limits in a PostgreSQL database | no |

// On docs.rs every item shows the feature that it needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod activation;
mod circuit;
mod credentials;
mod degradation;
mod error;
mod event;
mod model;
mod owner;
mod path;
mod plane;
mod prices;
mod profile;
mod provider;
mod retries;
mod wording;

pub use activation::Change;
pub use agents_core::{PurposeKey, run::Cost};
pub use agents_http::Bundle;
pub use agents_runtime::{Action, Principal, Roles};
#[cfg(feature = "postgres")]
pub use agents_store::PostgresStore;
pub use agents_store::{
    Budget, BudgetKey, ControlStore, ProfileAction, ProfileChange, SqliteStore, UsageBy, UsageDay,
    UsageFilter, UsageRow, UsageSum,
};
pub use circuit::ModelCircuit;
pub use credentials::{CredentialValue, Credentials};
pub use error::{ControlError, ControlErrorKind};
pub use event::ControlEvent;
pub use model::Controlled;
pub use path::{Answer, Sent};
pub use plane::ControlPlane;
pub use prices::Prices;
pub use profile::{
    ActiveProfiles, Candidate, CredentialSource, Degradation, ModelProfile, OverrideClass,
    ProfileVersion, RateLimit, ResolvedProfile, Tier, per_minute, per_second,
    resolve_active_profile, usd,
};
pub use provider::Target;

// The chapter of the book about the control plane, compiled and run.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../README.md")]
    struct Readme;
    #[doc = include_str!("../../../book/src/control-plane.md")]
    struct ControlPlane;
}
