use agents::prelude::*;

struct Manager;

trait Manage {
    fn manage(&self, request: String) -> String;
}

#[agent]
impl Manage for Manager {
    /// Manages.
    #[skill]
    fn manage(&self, request: String) -> String {
        request
    }
}

fn main() {}
