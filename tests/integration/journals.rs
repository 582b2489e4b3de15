//! Journals: stored, resumed and recorded runs.

mod earlier_versions;
mod every_test;
mod foreign;
mod interruption;
mod properties;
mod recorded;
mod resumed_models;
mod resumed_settings;
mod shared;
mod stored;
