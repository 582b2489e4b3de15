use agents::{Code, prelude::*};
use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
};

/// Why a book cannot be lent.
#[derive(Clone, Debug, PartialEq)]
pub enum CannotLend {
    /// The catalogue does not answer at the moment.
    Busy,
    /// All copies are out.
    AllOut { back_in_days: u32 },
    /// The catalogue has it, the shelf has not.
    Lost,
}

impl fmt::Display for CannotLend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CannotLend::Busy => write!(f, "the catalogue is busy"),
            CannotLend::AllOut { back_in_days } => {
                write!(f, "all copies are out, one is back in {back_in_days} days")
            }
            CannotLend::Lost => write!(f, "it is not where it should be"),
        }
    }
}

impl ToolFailure for CannotLend {
    fn code(&self) -> Code {
        match self {
            CannotLend::Busy => Code::ProviderError,
            CannotLend::AllOut { .. } | CannotLend::Lost => Code::Unknown,
        }
    }
}

/// The books. The first time it is asked for one, it is busy.
#[derive(Clone, Default)]
pub struct Catalogue {
    was_asked: Arc<AtomicBool>,
}

impl Catalogue {
    pub fn take(&self, title: &str) -> Result<(), CannotLend> {
        if !self.was_asked.swap(true, SeqCst) {
            return Err(CannotLend::Busy);
        }
        match title {
            "Emma" => Ok(()),
            "Persuasion" => Err(CannotLend::AllOut { back_in_days: 4 }),
            _ => Err(CannotLend::Lost),
        }
    }
}
