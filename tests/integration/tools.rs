//! Tools from lists, and versions of tools.

mod deferred;
mod remote;
mod sources;
mod statuses;
mod versions;
