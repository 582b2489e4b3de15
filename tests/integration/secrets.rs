//! Secrets: the owners whose secrets are used, and masking.

mod canary;
mod cut;
mod stored;
mod whose;
