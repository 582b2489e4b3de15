//! Secrets of webhooks: a message is signed, and its receiver checks that.

use super::wording;
use crate::RuntimeError;
use agents_core::run::Timestamp;
use base64::{Engine, engine::general_purpose::STANDARD};
use hmac_sha256::HMAC;
use std::{fmt, time::Duration};

/// Secret that a webhook and its receiver share, as the Standard Webhooks specification has it: `whsec_` and 24 to 64
/// bytes in base64.
///
/// A message is signed with HMAC-SHA256 over `id.timestamp.body`. The receiver checks the three headers of a request:
///
/// ```
/// use agents_runtime::WebhookSecret;
/// use std::time::Duration;
///
/// let secret = WebhookSecret::read("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")?;
/// # let (id, timestamp, body) = ("msg-1", agents_core::run::Timestamp::now().as_millis() / 1000, r#"{"type": "run.ended"}"#);
/// # let timestamp = &timestamp.to_string();
/// # let signature = &secret.sign(id, timestamp, body.as_bytes());
/// // The values of `webhook-id`, `webhook-timestamp` and `webhook-signature`, and the body as it came:
/// secret.verify(id, timestamp, signature, body.as_bytes(), Duration::from_secs(5 * 60))?;
/// # Ok::<_, agents_runtime::RuntimeError>(())
/// ```
///
/// The same id may come twice, so a receiver remembers the ids of the last days.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookSecret(Vec<u8>);

impl WebhookSecret {
    /// Reads a secret: `whsec_` and 24 to 64 bytes in base64. The prefix may be missing.
    ///
    /// # Errors
    /// When the text is no such secret.
    pub fn read(text: &str) -> Result<Self, RuntimeError> {
        let bytes = STANDARD.decode(text.strip_prefix("whsec_").unwrap_or(text));
        let fits = bytes.ok().filter(|bytes| (24..=64).contains(&bytes.len()));
        fits.map(WebhookSecret).ok_or_else(wording::no_secret)
    }

    /// Returns the value of the header `webhook-signature`. The timestamp is in seconds since 1970.
    pub fn sign(&self, id: &str, timestamp: &str, body: &[u8]) -> String {
        format!("v1,{}", STANDARD.encode(self.mac(id, timestamp, body)))
    }

    fn mac(&self, id: &str, timestamp: &str, body: &[u8]) -> [u8; 32] {
        let mut mac = HMAC::new(&self.0);
        for part in [id.as_bytes(), b".", timestamp.as_bytes(), b".", body] {
            mac.update(part);
        }
        mac.finalize()
    }

    /// Checks the signature of a message, and that its timestamp differs from the present time by at most `age`. The
    /// values come from the headers `webhook-id`, `webhook-timestamp` and `webhook-signature`. The last header may have
    /// several signatures.
    ///
    /// # Errors
    /// When no signature is right, or the timestamp is no number of seconds, or differs from the present time by more
    /// than `age`.
    pub fn verify(
        &self,
        id: &str,
        timestamp: &str,
        signatures: &str,
        body: &[u8],
        age: Duration,
    ) -> Result<(), RuntimeError> {
        let Ok(seconds) = timestamp.parse::<u64>() else {
            return Err(wording::wrong_timestamp());
        };
        let expected = self.mac(id, timestamp, body);
        let is_right = |signature: &str| {
            let mac = signature.strip_prefix("v1,");
            let mac = mac.and_then(|mac| STANDARD.decode(mac).ok());
            mac.is_some_and(|mac| is_same(&mac, &expected))
        };
        if !signatures.split(' ').any(is_right) {
            return Err(wording::wrong_signature());
        }
        let now = Timestamp::now().as_millis() / 1000;
        match now.abs_diff(seconds) <= age.as_secs() {
            true => Ok(()),
            false => Err(wording::too_old()),
        }
    }
}

/// Returns `true` if both texts are the same. The time of the comparison does not depend on where they differ, so it
/// tells an attacker nothing.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    let differences = one.iter().zip(other).map(|(a, b)| a ^ b);
    one.len() == other.len() && differences.fold(0, |all, one| all | one) == 0
}

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookSecret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AGE: Duration = Duration::from_secs(300);

    fn secret() -> WebhookSecret {
        WebhookSecret::read("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap()
    }

    fn now() -> u64 {
        Timestamp::now().as_millis() / 1000
    }

    /// The key and its message are those of the standard's own libraries.
    #[test]
    fn the_signature_is_that_of_the_specification() {
        let (id, at) = ("msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330");
        let signed = secret().sign(id, at, br#"{"test": 2432232314}"#);
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn whatever_was_changed_is_noticed() {
        let (secret, at) = (secret(), now().to_string());
        let signed = secret.sign("id", &at, b"body");
        let several = format!("v1,AAAA {signed} v2,x");
        for right in [&signed, &several] {
            secret.verify("id", &at, right, b"body", AGE).unwrap();
        }
        let later = (now() + 1).to_string();
        let other = WebhookSecret::read(&STANDARD.encode([7; 24])).unwrap();
        for (secret, id, at, signature, body) in [
            (&secret, "id2", &at, &*signed, "body"),
            (&secret, "id", &later, &*signed, "body"),
            (&secret, "id", &at, &signed[..signed.len() - 5], "body"),
            (&secret, "id", &at, "v1,", "body"),
            (&secret, "id", &at, "", "body"),
            (&secret, "id", &at, &*signed, "bodY"),
            (&other, "id", &at, &*signed, "body"),
        ] {
            let checked = secret.verify(id, at, signature, body.as_bytes(), AGE);
            assert!(checked.is_err(), "{id} {at} {signature} {body}");
        }
    }

    #[test]
    fn a_message_of_another_time_is_refused() {
        let secret = secret();
        for at in [now() - 400, now() + 400, 0] {
            let at = at.to_string();
            let signed = secret.sign("id", &at, b"body");
            let error = secret.verify("id", &at, &signed, b"body", AGE).unwrap_err();
            assert!(error.to_string().contains("too old"), "{error}");
        }
    }

    #[test]
    fn what_is_no_secret_is_refused_and_none_is_shown() {
        for wrong in ["", "whsec_", "whsec_AAAA", "whsec_?", "hello"] {
            assert!(WebhookSecret::read(wrong).is_err(), "{wrong}");
        }
        assert_eq!(format!("{:?}", secret()), "WebhookSecret");
    }
}
