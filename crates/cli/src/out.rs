//! The standard output: lines for people, or JSON for programs.

use crate::{
    failure::Failure,
    screen::{inert_json, shown},
};
use agents_core::Json;
use serde::Serialize;
use std::io::{self, Write};

/// Standard output of a command.
pub(crate) struct Out {
    is_json: bool,
}

impl Out {
    pub(crate) fn new(is_json: bool) -> Self {
        Out { is_json }
    }

    /// Returns `true` if the user has asked for JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.is_json
    }

    /// Prints one line, after it was made safe for a terminal.
    pub(crate) fn line(&mut self, text: &str) -> Result<(), Failure> {
        self.raw(&shown(text))
    }

    /// Prints an object on one line as JSON.
    pub(crate) fn object(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        let text =
            serde_json::to_string(value).map_err(|error| Failure::failed(error.to_string()))?;
        self.raw(&inert_json(&text))
    }

    /// Prints a stored value as JSON, as it was stored: numbers keep all of their digits.
    pub(crate) fn exact(&mut self, value: &Json) -> Result<(), Failure> {
        self.raw(&inert_json(value.as_str()))
    }

    /// Prints text that is safe for a terminal already, and a line break.
    pub(crate) fn raw(&mut self, safe: &str) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        writeln!(out, "{safe}")?;
        out.flush()?;
        Ok(())
    }
}
