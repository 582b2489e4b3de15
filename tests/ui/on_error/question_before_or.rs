//! A `?` in an arm asks the next layer. Before `.or(..)` that is not what was meant.

use agents::prelude::*;

fn minutes(text: &str) -> Option<i64> {
    text.strip_suffix(" minutes")?.parse().ok()
}

fn tidy(raw: &str) -> Option<String> {
    raw.strip_prefix("call: ").map(str::to_owned)
}

tool! {
    /// Set a timer.
    #[tool(reads)]
    async fn set_timer(
        /// How long.
        minutes: i64,
    ) -> String { minutes.to_string() }

    on_error {
        invalid_args(raw, _) => fix(tidy(raw)?).or(feedback("JSON alone")),
        deserialization_error(value, error) if error.field("minutes") => sanitize(minutes(value?.as_str()?))
            .or(fix(tidy(error.message())?))
            .or(feedback("a whole number")),
        // The last step may leave, and so may what has none after it; a closure leaves only itself.
        deserialization_error(None, _) => sanitize((|| minutes(cx.args()?.as_str()))()).or(fix(tidy(cx.args()?.as_str()))),
        deserialization_error(Some(value), _) => sanitize(minutes(value.as_str()?)),
    }
}

fn main() {}
