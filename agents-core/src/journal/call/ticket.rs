//! Tickets: what a model gets in place of the result of a call that goes on in the background.

use super::{Call, wording};
use crate::model::{Content, Message};

/// Ticket of a call that goes on in the background.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(any(test, feature = "testing"), derive(serde::Serialize))]
pub(crate) struct Ticket {
    /// Number of the ticket among those of the agent, from 1.
    pub(crate) number: u32,
    /// Is `true` if the call is cancelled when the agent answers; otherwise the answer waits for the call.
    pub(crate) until_answer: bool,
}

impl Call {
    /// Returns `true` if the model has a ticket for the call, so that the call goes on in the background.
    pub(crate) fn is_in_background(&self) -> bool {
        self.ticket.is_some()
    }

    /// Returns `true` if the call is in the background and has no receipt yet.
    pub(crate) fn is_on_its_way(&self) -> bool {
        self.is_in_background() && self.receipt.is_none()
    }

    /// Returns `true` if the agent's answer has to wait for the end of the call.
    pub(crate) fn holds_up_the_answer(&self) -> bool {
        let ticket = self.ticket.filter(|ticket| !ticket.until_answer);
        ticket.is_some() && self.receipt.is_none()
    }

    /// Returns the name of the ticket, such as `researcher-1`; `None` for a call that is not in the background.
    pub(crate) fn ticket_name(&self) -> Option<String> {
        let ticket = self.ticket?;
        Some(format!("{}-{}", self.call.name, ticket.number))
    }

    /// Returns the message that gives the model its ticket, as the result of the call.
    pub(crate) fn ticket_message(&self) -> Message {
        let name = self.ticket_name().unwrap_or_default();
        let until_answer = self.ticket.is_some_and(|ticket| ticket.until_answer);
        Message::Tool {
            tool_call_id: self.call.id.clone(),
            name: self.call.name.clone(),
            content: Content::told(wording::ticket(&name, until_answer)),
        }
    }

    /// Takes the result of a settled call that was in the background, as a message to the model.
    pub(crate) fn take_told_result(&mut self) -> Content {
        let name = self.ticket_name().unwrap_or_default();
        let mut content = self.take_content().unwrap_or_default();
        let text = wording::result_of_ticket(&self.call.name, &name, &content);
        let media = std::mem::take(&mut content.media);
        content = Content::told(text);
        content.media = media;
        content
    }
}
