use agents::{Code, ToolFailure};
use std::fmt;

struct Busy {
    limited: bool,
}

impl fmt::Display for Busy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("busy")
    }
}

impl ToolFailure for Busy {
    fn code(&self) -> Code {
        match self.limited {
            true => Code::RateLimt,
            false => Code::TimedOut,
        }
    }
}

fn main() {}
