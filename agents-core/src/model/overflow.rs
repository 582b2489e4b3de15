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

/// Wordings of servers for a conversation that is too long, in lower case. [`ContextOverflow::is_told`] also knows what
/// is said of a context in other words.
const WORDINGS: [&str; 31] = [
    // OpenAI, Azure, vLLM, DeepSeek, OpenRouter, Mistral, Fireworks; Ollama's cloud
    "maximum context length",
    "max context length",
    "maximum model length",
    "reduce the length of the messages",
    "reduce the length of the input",
    "reduce the length of the prompt",
    "input tokens exceed",
    // Anthropic, Bedrock, Google
    "prompt is too long",
    "input is too long",
    "exceeds the maximum number of tokens",
    // xAI, Moonshot, Z.ai, GitHub, Cohere, MiniMax
    "maximum prompt length",
    "exceeded model token limit",
    "exceeds the model's token limit",
    "exceeds model token limit",
    "prompt exceeds max length",
    "prompt exceeds the maximum",
    "prompt token count of",
    "number of tokens in the prompt",
    "prompt is longer than",
    "prompt is too large",
    "prompt too long",
    "input too long",
    "too many tokens",
    // Text Generation Inference and Together, DashScope
    "`inputs` tokens + `max_new_tokens`",
    "`inputs` must have less than",
    "range of input length should be",
    // llama.cpp and Ollama; the last one is said when the user's words were left out, since they did not fit
    "available context size",
    "too large to process",
    "context shift is disabled",
    "prompt is too big",
    "no user query found in messages",
];

impl ContextOverflow {
    /// Returns `true` if a server refuses a conversation with these words because it is too long for the model.
    ///
    /// All clients share this list. Refusals of other lengths, such as that of a name or of `max_tokens`, are none, and
    /// neither is a limit of tokens in a time.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::model::ContextOverflow;
    ///
    /// assert!(ContextOverflow::is_told("The input (9120 tokens) is longer than the model's context length (4096 tokens)."));
    /// assert!(!ContextOverflow::is_told("the key may not be used in this context"));
    /// ```
    #[must_use]
    pub fn is_told(text: &str) -> bool {
        let text = text.to_lowercase().replace('\u{2019}', "'");
        let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
        let of_time = ["per minute", "per day", "per second", "per month", "quota"];
        let context = [
            "context length",
            "context window",
            "context size",
            "context limit",
        ];
        let is_over = [
            "exceed",
            "longer than",
            "larger than",
            "greater than",
            "more than",
            "too long",
            "too large",
            "too small",
            "overflow",
            "not enough",
            "not fit",
            "reached",
        ];
        let of_size = [
            "message size",
            "prompt size",
            "prompt length",
            "input length",
        ];
        let is_of_size =
            has(&of_size) && has(&["exceed", "longer than", "larger than", "greater than"]);
        !has(&of_time) && (has(&WORDINGS) || is_of_size || has(&context) && has(&is_over))
    }

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
    fn the_words_of_each_server() {
        for text in [
            // OpenAI, vLLM
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
            "Your input exceeds the context window of this model. Please adjust your input and try again.",
            "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens.",
            "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
            // SGLang, LM Studio
            "Requested token count exceeds the model\u{2019}s maximum context length of 32768 tokens.",
            "The input (33000 tokens) is longer than the model's context length (32768 tokens).",
            "The number of tokens to keep from the initial prompt is greater than the context length.",
            "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context \
             length of only 4096 tokens, which is not enough.",
            // llama.cpp, Ollama
            "the request exceeds the available context size, try increasing it",
            "Context size has been exceeded.",
            "input length exceeds maximum context length",
            "prompt too long; exceeded max context length by 12 tokens",
            // Mistral, xAI, Moonshot, Z.ai, MiniMax, GitHub
            "Prompt contains 40100 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
            "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
            "Invalid request: Your request exceeded model token limit: 131072",
            "total message size 9000000 exceeds limit 2097152",
            "Prompt exceeds max length",
            "invalid params, context window exceeds limit",
            "prompt token count of 130000 exceeds the limit of 128000",
            // Anthropic, Bedrock, Google, Together, Cohere, DashScope
            "prompt is too long: 210000 tokens > 200000 maximum",
            "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
            "Input is too long for requested model.",
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 and 512",
            "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000.",
            "Range of input length should be [1, 30720]",
        ] {
            assert!(ContextOverflow::is_told(text), "{text}");
        }
    }

    #[test]
    fn other_refusals_are_not_about_the_length_of_the_conversation() {
        for text in [
            "",
            "Incorrect API key provided: it may not be used in this context",
            "The model `m` does not exist, or you lack access to it in this context.",
            "Unrecognized request argument supplied: context_length",
            "max_tokens is too large: 100000. This model supports at most 16384 completion tokens.",
            "Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64.",
            "prompt_cache_key exceeds max length 64",
            "Invalid schema: the context of `$ref` is unknown",
            "Rate limit reached: the context length of your requests exceeds 10000 tokens per minute",
            "You exceeded your current quota of tokens, please check your plan",
            "image exceeds the maximum size of 5 MB",
            "num_ctx: the context length has to be a number",
            "messages: at least one message is required",
        ] {
            assert!(!ContextOverflow::is_told(text), "{text}");
        }
    }

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
