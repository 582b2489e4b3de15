use serde::{Deserialize, Serialize};

/// Request that is longer than a model can read: [`ModelError::overflow`](super::ModelError::overflow) returns it.
///
/// All numbers are tokens. A number is `None` if neither the server nor the client knows it.
///
/// ```
/// # use agents_core as agents;
/// use agents::model::{ContextOverflow, ModelError};
///
/// let overflow = ContextOverflow { sent: Some(9_120), read: Some(2_050), window: Some(4_096) };
/// let error = ModelError::too_long("the window is too small", overflow).with_status(400);
/// assert_eq!(error.overflow(), Some(overflow));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextOverflow {
    /// Number of tokens that were sent. A client that has to estimate this number gives a low estimate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<u64>,
    /// Number of tokens that the model has read, if the server cut the rest off; `None` if the server refused the
    /// request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<u64>,
    /// Size of the model's window: what it can read and write in one request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
}

impl ContextOverflow {
    /// Reads the two sizes of a provider's refusal, such as `prompt is too long: 210000 tokens > 200000 maximum`. The
    /// greater one was sent, the smaller one is the window. Numbers below 512 are passed over. Both sizes are `None`
    /// unless exactly two other numbers are left, and these differ.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::model::ContextOverflow;
    ///
    /// let overflow = ContextOverflow::in_words("request (9120 tokens) exceeds the available context size (4096 tokens)");
    /// assert_eq!((overflow.sent, overflow.window), (Some(9_120), Some(4_096)));
    /// ```
    #[must_use]
    pub fn in_words(text: &str) -> Self {
        let is_number = |c: char| c.is_ascii_digit() || c == ',';
        let numbers = text.split(|c| !is_number(c));
        // Smaller numbers are versions and codes: no model has a window of that size.
        let sizes = numbers.filter_map(|digits| digits.replace(',', "").parse().ok());
        let sizes: Vec<u64> = sizes.filter(|size| *size >= 512).collect();
        match sizes[..] {
            [one, other] if one != other => ContextOverflow {
                sent: Some(one.max(other)),
                read: None,
                window: Some(one.min(other)),
            },
            _ => ContextOverflow::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_in_the_words_of_each_provider() {
        for (text, sent, window) in [
            (
                "This model's maximum context length is 128000 tokens. However, your messages resulted in 130012 tokens.",
                130_012,
                128_000,
            ),
            (
                "prompt is too long: 210000 tokens > 200000 maximum",
                210_000,
                200_000,
            ),
            (
                "The input token count (1,200,000) exceeds the maximum number of tokens allowed (1048576).",
                1_200_000,
                1_048_576,
            ),
            (
                "request (9120 tokens) exceeds the available context size (4096 tokens), try increasing it",
                9_120,
                4_096,
            ),
        ] {
            let overflow = ContextOverflow::in_words(text);
            let found = (overflow.sent, overflow.window);
            assert_eq!(found, (Some(sent), Some(window)), "{text}");
        }
    }

    #[test]
    fn no_size_is_guessed() {
        for text in [
            "",
            "the input length exceeds the context length",
            "maximum context length is 8192 tokens",
            "you requested 9000 tokens (8000 in the messages, 1000 in the completion), the maximum is 8192",
            "4096 of 4096",
            "99999999999999999999999999 > 4096",
        ] {
            assert_eq!(
                ContextOverflow::in_words(text),
                ContextOverflow::default(),
                "{text}"
            );
        }
    }
}
