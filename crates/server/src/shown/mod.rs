//! Data of the pages and of the API: pages make HTML of it, and the API is its JSON.

pub(crate) mod agents;
pub(crate) mod audit;
pub(crate) mod calls;
pub(crate) mod conversations;
pub(crate) mod costs;
pub(crate) mod escalations;
pub(crate) mod failures;
pub(crate) mod letters;
pub(crate) mod models;
pub(crate) mod runs;
pub(crate) mod tools;
