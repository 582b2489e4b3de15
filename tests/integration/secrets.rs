//! Secrets: whose are used, and that nobody sees them.

mod canary;
mod whose;
