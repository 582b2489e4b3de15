use agents::prelude::*;

pub struct Librarian;

#[agent(prompt = "You run a library. Your clerk lends the books.")]
impl Librarian {
    /// Sees to a reader's wish.
    #[skill(when = |_| true)]
    async fn attend(&self, wish: String) -> String;

    /// Asks another library.
    #[skill]
    fn order_elsewhere(&self, wish: String) -> String {
        format!("ordered from the next town: {wish}")
    }

    on_escalation!(match escalation.severity {
        Low | Medium => reroute_to_skill(Self::order_elsewhere),
        High | Critical => return_partial_result(format!("not today: {}", escalation.reason)),
    });
}
