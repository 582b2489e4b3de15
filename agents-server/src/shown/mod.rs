//! Data of the pages and of the API: pages make HTML of it, and the API is its JSON.

pub(crate) mod agents;
pub(crate) mod calls;
pub(crate) mod conversations;
pub(crate) mod costs;
pub(crate) mod escalations;
pub(crate) mod models;
pub(crate) mod runs;
pub(crate) mod tools;
