use crate::{catalogue::Catalogue, lend::Lend};
use agents::prelude::*;

pub struct Clerk {
    pub catalogue: Catalogue,
}

#[agent(
    prompt = "You lend books.",
    tools = [Lend { catalogue: self.catalogue.clone() }],
)]
impl Clerk {
    /// Lends a book.
    async fn serve(&self, wish: String) -> String;
}
