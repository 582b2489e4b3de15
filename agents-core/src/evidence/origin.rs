use crate::Json;
use serde::{Deserialize, Serialize};
use std::{fmt, sync::Arc};

/// Origin of a [`Known`](super::Known) value in the arguments of a call, as receipts and requests for approval show it.
///
/// ```
/// # use agents_core as agents;
/// use agents::evidence::{Giver, Origin};
///
/// let row = r#"{"value": "A-17", "giver": {"tool": {"name": "read_mail", "call_id": "c1"}}, "in_text": true}"#;
/// let origin: Origin = serde_json::from_str(row).unwrap();
/// assert_eq!(origin.to_string(), r#""A-17" from a text in the output of `read_mail`"#);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Origin {
    /// The value, as it is among the arguments.
    pub value: Json,
    /// User, tool or approver that gave the value.
    pub giver: Giver,
    /// Is `true` if the value is a part of a longer text in a tool's output, such as the body of a mail. Then the
    /// author of that text has given the value, and the author may be anybody.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_text: bool,
}

/// Source of a [`Known`](super::Known) value: who or what has given it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Giver {
    /// The user gave the value: in the input of the run, in an earlier message of the conversation, in an instruction,
    /// or in the answer to a question.
    User,
    /// A tool gave the value in its output.
    Tool {
        /// Name of the tool whose output contains the value.
        name: String,
        /// Id of the receipt of the call that gave the value; `None` if the call belongs to an earlier message of the
        /// conversation.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call_id: Option<Arc<str>>,
    },
    /// The approver of the call gave the value in place of the model's.
    Person,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Origin {
            value,
            giver,
            in_text,
        } = self;
        match giver {
            Giver::User => write!(f, "{value} from the user"),
            Giver::Tool { name, .. } if *in_text => {
                write!(f, "{value} from a text in the output of `{name}`")
            }
            Giver::Tool { name, .. } => write!(f, "{value} from the output of `{name}`"),
            Giver::Person => write!(f, "{value} from the approver"),
        }
    }
}
