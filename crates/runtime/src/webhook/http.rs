//! Delivery of messages over HTTP.

use super::{Deliver, DeliveryError, WebhookMessage, WebhookSecret, wording};
use crate::RuntimeError;
use async_trait::async_trait;
use reqwest::{Client, StatusCode, Url, header::CONTENT_TYPE, redirect::Policy};
use std::{fmt, time::Duration};

/// Default time within which the webhook's receiver has to answer.
const ANSWERS_WITHIN: Duration = Duration::from_secs(15);

/// Delivery over HTTP (feature `webhooks`), with the headers of the Standard Webhooks specification. HTTPS needs the feature
/// `webhooks-tls`.
///
/// A message is a `POST` to one address, which is never left: redirections are not followed. A status of 2xx means that
/// the message was taken; the answer has to come within 15 seconds by default. After 410 (Gone) there is no other try.
///
/// ```
/// use agents_runtime::{HttpDelivery, Webhook, WebhookSecret};
/// use std::time::Duration;
///
/// let secret = WebhookSecret::read("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")?;
/// let delivery = HttpDelivery::to("http://desk.internal/agents", secret.clone())?
///     .answers_within(Duration::from_secs(5));
/// let desk = Webhook::new("desk", delivery); // for `Runtime::webhook`
///
/// assert!(HttpDelivery::to("ftp://desk.internal", secret).is_err());
/// # let _ = desk;
/// # Ok::<_, agents_runtime::RuntimeError>(())
/// ```
#[derive(Clone)]
pub struct HttpDelivery {
    client: Client,
    address: Url,
    secret: WebhookSecret,
    answers_within: Duration,
}

impl HttpDelivery {
    /// Creates a delivery to this address, whose messages are signed with the secret.
    ///
    /// # Errors
    /// When the address is none of HTTP, is one of HTTPS without the feature `webhooks-tls`, or names a user: the
    /// signature says who speaks.
    pub fn to(address: &str, secret: WebhookSecret) -> Result<Self, RuntimeError> {
        let address: Url = address.parse().map_err(|_| wording::address_unreadable())?;
        match address.scheme() {
            "http" => {}
            "https" if cfg!(feature = "webhooks-tls") => {}
            "https" => return Err(wording::needs_tls()),
            _ => return Err(wording::not_http()),
        }
        if !address.username().is_empty() || address.password().is_some() {
            return Err(wording::address_with_user());
        }
        let client = Client::builder()
            .redirect(Policy::none())
            .connect_timeout(ANSWERS_WITHIN)
            .build()
            .map_err(|error| wording::no_client(&error))?;
        Ok(HttpDelivery {
            client,
            address,
            secret,
            answers_within: ANSWERS_WITHIN,
        })
    }

    /// Sets the time within which the other system has to answer: 15 seconds by default, and at most 30.
    #[must_use]
    pub fn answers_within(mut self, time: Duration) -> Self {
        self.answers_within = time;
        self
    }
}

#[async_trait]
impl Deliver for HttpDelivery {
    async fn deliver(&self, message: &WebhookMessage) -> Result<(), DeliveryError> {
        let at = (message.timestamp.as_millis() / 1000).to_string();
        let signed = self.secret.sign(&message.id, &at, message.body.as_bytes());
        let sent = self
            .client
            .post(self.address.clone())
            .timeout(self.answers_within)
            .header(CONTENT_TYPE, "application/json")
            .header("webhook-id", &message.id)
            .header("webhook-timestamp", at)
            .header("webhook-signature", signed)
            .body(message.body.clone())
            .send();
        // Addresses of errors could have a token in their query.
        let answer = sent
            .await
            .map_err(|error| DeliveryError::new(in_full(&error.without_url())))?;
        match answer.status() {
            status if status.is_success() => Ok(()),
            StatusCode::GONE => Err(DeliveryError::permanent(wording::GONE)),
            status => Err(DeliveryError::new(wording::answered(&status))),
        }
    }
}

fn in_full(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}

impl fmt::Debug for HttpDelivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpDelivery")
            .field("host", &self.address.host_str())
            .finish_non_exhaustive()
    }
}
