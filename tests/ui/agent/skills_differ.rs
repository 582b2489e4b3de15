use agents::prelude::*;

struct Manager;

#[agent(prompt = "You manage.")]
impl Manager {
    /// Manages.
    #[skill]
    async fn manage(&self, request: String) -> String;

    /// Counts.
    #[skill(when = |n: &u32| *n > 3)]
    fn count(&self, n: u32) -> u32 {
        n
    }

    /// Tries.
    #[skill]
    fn attempt(&self, request: String) -> Result<Option<String>, Error> {
        Ok(Some(request))
    }
}

fn main() {}
