//! Secrets: whose are used, and that nobody sees them.

mod canary;
mod cut;
mod whose;
