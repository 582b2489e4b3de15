//! Escalations: where they come to, and what becomes of them.

mod own;
