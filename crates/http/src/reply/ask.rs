use super::{
    Decoder, Ending, Format, Framing, Problem, Progress, Sink, ends,
    failure::{Failures, Refusal},
};
use crate::{Body, Call, Limits, TransportError, request_id};
use agents_core::model::{ModelError, RateLimits, Reply};
use http::{HeaderMap, Response};
use serde::de::DeserializeOwned;
use std::time::Duration;

/// Time limit for the end of the body after the end of the model's reply, whatever arrives until then. Only a connection
/// that was read to its end can be used again.
const END_OF_BODY_TIMEOUT: Duration = Duration::from_millis(250);

/// Time limit for the event that ends the stream, after the model has said why it stopped: some servers leave the
/// connection open without one. The counts of tokens may come in that time.
const END_OF_STREAM_TIMEOUT: Duration = Duration::from_secs(2);

/// Words of a client of a model for its errors: the name of the model, the setting for the address, advice about the
/// key.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a> {
    /// Name of the model, as the server knows it.
    pub model: &'a str,
    /// Name of the client's setting for the address, such as `` `.base_url(..)` ``.
    pub url: &'a str,
    /// Advice about a missing or wrong key, which the error then contains.
    pub key: &'a str,
}

impl<'a> Call<'a> {
    /// Returns the names that error messages about this request contain.
    fn failures<'f>(&self, words: &'f Words<'f>) -> Failures<'f>
    where
        'a: 'f,
    {
        Failures {
            words,
            server: self.server,
            path: self.endpoint.path(),
            hidden: self.hidden(),
            request_id: None,
        }
    }
}

/// Sends a request, and reads the model's reply in this format, as a stream or as one document.
///
/// A reply whose stream ends without a reason to stop may be cut off, and is an error. The process learns which servers
/// never give a reason: from the second reply of such a server on, its replies are whole unless their JSON breaks off.
///
/// # Errors
/// When the server cannot be reached, refuses the request, breaks off, or does not follow the format. Errors say what
/// to do, and show no secret headers.
pub async fn ask<F: Format>(
    call: Call<'_>,
    limits: &Limits,
    format: F,
    sink: Sink<'_>,
    words: &Words<'_>,
) -> Result<Reply, ModelError> {
    let mut failures = call.failures(words);
    let response = call.send(limits).await;
    let response = response.map_err(|failure| failures.transport(&failure, 0))?;
    failures.request_id = request_id(response.headers()).map(str::to_owned);
    if !response.status().is_success() {
        return refused(&failures, response).await;
    }
    let rate_limits = rate_limits(response.headers());
    let mut decoder = Decoder::new(format);
    let failure = read(&mut decoder, response.into_body(), sink).await;
    let ended = match failure {
        Ok(None) => decoder.end(Ending::Closed, sink),
        Ok(Some(_)) => decoder.end(Ending::BrokeOff, sink),
        Err(ref problem) => Err(problem.clone()),
    };
    let has_stopped = failure.is_ok() && decoder.progress() == Progress::Stopped;
    let (server, model) = (failures.server.name(), words.model);
    let mut reply = decoder.into_reply();
    match ended {
        Ok(()) => ends::gave_reason(server, model),
        Err(_) if has_stopped && ends::gave_none(server, model, &reply) => {}
        Err(problem) => {
            let said = reply.content.chars().count();
            return Err(match failure {
                Ok(Some(failure)) => failures.transport(&failure, said),
                _ if has_stopped => failures.without_reason(said),
                _ => failures.problem(&problem, said),
            });
        }
    }
    reply.rate_limits = rate_limits;
    Ok(reply)
}

/// Sends a request, and reads the JSON document of the response.
///
/// ```
/// use agents_http::{Address, Headers, Limits, Server, Words, get_json};
/// # use agents_http::testing;
///
/// #[derive(serde::Deserialize)]
/// struct Models { models: Vec<String> }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let scripted = testing::Server::plays([testing::Answer::json(200, r#"{"models": ["small", "large"]}"#)]).await;
/// # let address = &scripted.url;
/// let server = Server::new(Address::parse(address, None)?, &Headers::default())?;
/// let endpoint = server.endpoint("v1/models")?;
/// let words = Words { model: "small", url: "`.base_url(..)`", key: "set `.api_key(..)`" };
/// let found: Models = get_json(server.get(&endpoint), &Limits::default(), &words).await?;
/// assert_eq!(found.models, ["small", "large"]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// When the server cannot be reached, refuses the request, breaks off, or sends no such document.
pub async fn get_json<T: DeserializeOwned>(
    call: Call<'_>,
    limits: &Limits,
    words: &Words<'_>,
) -> Result<T, ModelError> {
    let mut failures = call.failures(words);
    let response = call.send(limits).await;
    let response = response.map_err(|failure| failures.transport(&failure, 0))?;
    failures.request_id = request_id(response.headers()).map(str::to_owned);
    if !response.status().is_success() {
        return refused(&failures, response).await;
    }
    let read = |bytes: &[u8], failure: Option<TransportError>| match serde_json::from_slice(bytes) {
        Ok(document) => Ok(document),
        Err(error) => Err(match failure {
            Some(failure) => failures.transport(&failure, 0),
            None => failures.problem(&Problem::json(&error, bytes), 0),
        }),
    };
    response.into_body().read_all(read).await
}

/// Reads the body of a response to its end with the decoder. Returns the failure of the connection that ended the body,
/// if one did before the reply was complete. Bytes that do not follow the format are an error.
async fn read<F: Format>(
    decoder: &mut Decoder<F>,
    mut body: Body,
    sink: Sink<'_>,
) -> Result<Option<TransportError>, Problem> {
    loop {
        let progress = decoder.progress();
        let piece = match body.next().await {
            Ok(Some(piece)) => piece,
            Ok(None) => return Ok(None),
            // The server has said all that it has to say.
            Err(TransportError::TimedOut { .. }) if progress > Progress::Begun => return Ok(None),
            Err(failure) => return Ok(Some(failure)),
        };
        decoder.on(&piece, sink)?;
        let (before, progress) = (progress, decoder.progress());
        if progress > Progress::Nothing || decoder.framing() == Some(Framing::Document) {
            body.begun();
        }
        let wait = match progress {
            Progress::Stopped | Progress::Ended => END_OF_BODY_TIMEOUT,
            Progress::Complete => END_OF_STREAM_TIMEOUT,
            Progress::Nothing | Progress::Begun => continue,
        };
        if progress != Progress::Complete && body.is_complete() {
            return Ok(None);
        }
        if progress != before {
            body.end_within(wait);
        }
    }
}

async fn refused<T>(failures: &Failures<'_>, response: Response<Body>) -> Result<T, ModelError> {
    let (head, body) = response.into_parts();
    let refusal = Refusal {
        status: head.status,
        headers: head.headers,
    };
    let read = |bytes: &[u8], _| Err(failures.refused(&refusal, bytes));
    body.read_all(read).await
}

/// Reads how many requests and tokens the provider still allows, from headers such as `x-ratelimit-remaining-requests`;
/// `None` without such a header.
fn rate_limits(headers: &HeaderMap) -> Option<RateLimits> {
    let mut limits = RateLimits::default();
    for (name, value) in headers {
        let name = name.as_str();
        if !name.contains("ratelimit") || !name.contains("remaining") {
            continue;
        }
        let number = value
            .to_str()
            .ok()
            .and_then(|text| text.trim().parse().ok());
        if name.ends_with("requests") || name.ends_with("requests-remaining") {
            limits.requests_left = number;
        } else if name.ends_with("remaining-tokens") || name.ends_with("limit-tokens-remaining") {
            limits.tokens_left = number;
        }
    }
    (limits != RateLimits::default()).then_some(limits)
}
