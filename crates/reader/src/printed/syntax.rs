//! Syntaxes of calls: the wrapper, and the grammar of the body inside.

use std::fmt;

/// Syntax in which a call was printed: [`PrintedCall::syntax`](super::PrintedCall::syntax) of each call that was found.
///
/// A syntax is a wrapper and its contents: the same `<tool_call>` holds JSON for one family, XML parameters for a
/// second and key/value pairs for a third. Each variant shows its usual spelling. It also stands for similar tags, and
/// for other contents of the same wrapper that have no variant of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Syntax {
    /// `<tool_call><function=f><parameter=n>5</parameter></function></tool_call>`
    QwenXml,
    /// `<tool_call>f<arg_key>n</arg_key><arg_value>5</arg_value></tool_call>`
    GlmArgKv,
    /// `<|tool_call>call:f{n:5}<tool_call|>`
    Gemma4Call,
    /// `<start_function_call>call:f{n:5}<end_function_call>`
    FunctionGemmaCall,
    /// `<tool_call>{"name":"f","arguments":{"n":5}}</tool_call>`
    HermesJson,
    /// `<tool_call>f{"n":5}</tool_call>`; a line break may stand between the name and the arguments.
    NameLineJson,
    /// `<|tool_call_start|>[f(n=5)]<|tool_call_end|>`
    Lfm2Pythonic,
    /// `<function_calls>f(n=5)</function_calls>`
    OlmoPythonic,
    /// `[f(n=5)]`
    BarePythonic,
    /// `{"name":"f","arguments":{"n":5}}`
    BareJson,
    /// `[{"name":"f","arguments":{"n":5}}]`
    JsonList,
    /// `{"f":{"n":5}}`
    NameKeyedJson,
    /// `f({"n":5})`
    CallJson,
    /// `<｜tool▁call▁begin｜>f<｜tool▁sep｜>{"n":5}<｜tool▁call▁end｜>`
    DeepseekSep,
    /// `<｜tool▁call▁begin｜>function<｜tool▁sep｜>f`, then a fenced block.
    DeepseekFence,
    /// `[TOOL_CALLS]f[ARGS]{"n":5}`
    MistralArgs,
    /// `[TOOL_CALLS] [{"name":"f","arguments":{"n":5}}]`
    MistralList,
    /// `<atem:invoke name="f"><atem:parameter name="n">5</atem:parameter></atem:invoke>`
    AtemXml,
    /// ` to=f<|message|>{"n":5}`
    GlimmerHeader,
    /// `<|START_ACTION|>[{"tool_name":"f","parameters":{"n":5}}]<|END_ACTION|>`
    CohereAction,
    /// `<user>f<arg_key>n</arg_key><arg_value>5</arg_value></user>`: the tag is the word `user`.
    UserTagGlm,
    /// `<user>{"name":"f","arguments":{"n":5}}</user>`: the tag is the word `user`.
    UserTagJson,
    /// `[tool]f[args]{"n":5}[end]`
    ToolTokenArgs,
    /// A block fenced as `tool_code` that holds `f(n=5)`.
    ToolCode,
    /// `<|python_tag|>f.call(n=5)`
    PythonTag,
    /// `Action: f`, and on the next line `Action Input: {"n":5}`, at the end of the text.
    React,
}

/// Grammar of what stands inside a wrapper. Families combine grammars freely with wrappers, and models confuse them, so
/// any wrapper may hold any body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Body {
    /// A JSON object, or several, or a list of them: `{"name":"f","arguments":{}}`
    Json,
    /// A JSON object with the name as its key: `{"f":{}}`
    NameKeyed,
    /// A name, a separator or line break, and the arguments as JSON.
    Named,
    /// A name and the arguments as JSON in a fenced block.
    Fenced,
    /// Syntax with an opening and a closing tag around each parameter.
    Params,
    /// Syntax with a name, then `<arg_key>` and `<arg_value>` by turns.
    Pairs,
    /// Syntax of Python calls: `[f(n=5)]`
    Python,
    /// Syntax of Gemma's calls: `call:f{n:5}`
    Gemma,
}

impl Syntax {
    /// Returns the syntax of a call that this wrapper holds with this grammar inside.
    pub(super) fn around(self, body: Body) -> Self {
        match (self, body) {
            (Self::HermesJson, Body::Params) => Self::QwenXml,
            (Self::HermesJson, Body::Pairs) => Self::GlmArgKv,
            (Self::HermesJson, Body::Named) => Self::NameLineJson,
            (Self::HermesJson, Body::Python) => Self::OlmoPythonic,
            (Self::DeepseekSep, Body::Fenced) => Self::DeepseekFence,
            (Self::MistralArgs, Body::Json) => Self::MistralList,
            (Self::UserTagGlm, Body::Json) => Self::UserTagJson,
            (Self::BareJson, Body::NameKeyed) => Self::NameKeyedJson,
            (wrapper, _) => wrapper,
        }
    }

    /// Returns the name of the syntax that logs and reports use, such as `qwen-xml`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::QwenXml => "qwen-xml",
            Self::GlmArgKv => "glm-arg-kv",
            Self::Gemma4Call => "gemma4-call",
            Self::FunctionGemmaCall => "functiongemma-call",
            Self::HermesJson => "hermes-json",
            Self::NameLineJson => "name-line-json",
            Self::Lfm2Pythonic => "lfm2-pythonic",
            Self::OlmoPythonic => "olmo-pythonic",
            Self::BarePythonic => "bare-pythonic",
            Self::BareJson => "bare-json",
            Self::JsonList => "json-list",
            Self::NameKeyedJson => "name-keyed-json",
            Self::CallJson => "call-json",
            Self::DeepseekSep => "deepseek-sep",
            Self::DeepseekFence => "deepseek-fence",
            Self::MistralArgs => "mistral-args",
            Self::MistralList => "mistral-list",
            Self::AtemXml => "atem-xml",
            Self::GlimmerHeader => "glimmer-header",
            Self::CohereAction => "cohere-action",
            Self::UserTagGlm => "user-tag-glm",
            Self::UserTagJson => "user-tag-json",
            Self::ToolTokenArgs => "tool-token-args",
            Self::ToolCode => "tool-code",
            Self::PythonTag => "python-tag",
            Self::React => "react",
        }
    }
}

impl fmt::Display for Syntax {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
