//! Models: those that fail or do not answer, overridden models, models for purposes, and scripted models.

mod attachments;
mod hostile;
mod named;
mod override_model;
mod purposes;
mod retries;
mod scripted;
