use crate::{
    catalogue::{CannotLend, Catalogue},
    slips::{SlipReader, from_slip},
};
use agents::prelude::*;

tool! {
    /// Lend a book to a reader.
    #[tool(writes, idempotent)]
    pub async fn lend(
        /// The book's title.
        title: String,
        /// Who takes it home.
        reader: String,
        #[inject] catalogue: Catalogue,
    ) -> Result<String, CannotLend> {
        catalogue.take(&title)?;
        Ok(format!("{reader} has {title}"))
    }

    on_error {
        invalid_args(raw, _) => fix(from_slip(raw)).or(fix(agent = SlipReader, retries = 2)),
        execution_error(Returned(why)) => match why {
            CannotLend::Busy => retry(max_attempts = 3, backoff = exponential()),
            CannotLend::AllOut { back_in_days } => feedback(format!("offer to keep a copy in {back_in_days} days")),
            CannotLend::Lost => escalate("a book is not on its shelf", severity = Medium),
        },
        execution_error(TimedOut(_) | Panicked(_)) => escalate("the catalogue is out of order"),
    }
}
