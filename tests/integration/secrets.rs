//! Secrets: the owners whose secrets are used, and masking.

mod leaks;
mod owners;
mod stored;
mod truncation;
