//! Models: those that fail or do not answer, overridden models, and scripted models.

mod override_model;
mod retries;
mod scripted;
