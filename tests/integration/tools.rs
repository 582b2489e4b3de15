//! Tools from lists, and versions of tools.

mod remote;
mod sources;
mod statuses;
mod versions;
