//! Rate and reservation: money is held before a request is sent.

use super::{Call, span};
use crate::{Candidate, plane::key, wording};
use agents_core::model::{ModelError, Request};
use agents_store::{ControlStore, Hold, HoldAnswer, RateRule, Settlement};
use std::{sync::Arc, time::Duration};
use tokio::{runtime::Handle, time::sleep};
use tracing::Span;
use uuid::Uuid;

/// Time after which a hold that nobody has settled counts as spent. A request is over before that: a server may send
/// nothing for half a minute at most, and the length of a reply is bounded.
const EXPIRES: Duration = Duration::from_secs(600);
/// Longest time that a call waits until its rate limit lets it pass. A call that would have to wait longer fails at
/// once.
const PATIENCE: Duration = Duration::from_secs(10);

/// Money that is held in the store for one request to a model.
pub(super) struct Holding {
    store: Arc<dyn ControlStore>,
    pub(super) id: String,
    /// Largest cost of the request in billionths of a dollar, which is held for it. It is `None` if the model has no
    /// price or the length of the reply no bound.
    pub(super) amount: Option<u64>,
    cap: Option<u64>,
    /// `tracing` span of the request, once the request is sent.
    pub(super) span: Span,
    is_open: bool,
}

impl Call<'_> {
    /// Holds money for the largest cost of a request that is about to be sent, if the rate limit and the daily cap
    /// permit the request. The hold is a row in the log of usage: the row is there before the request is sent.
    /// `circuit` is the name of the circuit that the request goes through.
    pub(super) async fn hold(
        &mut self,
        to: &Candidate,
        circuit: &str,
    ) -> Result<Holding, ModelError> {
        let profile = self.profile;
        let cap = profile.daily_cap_nanos;
        let amount = self.largest(to);
        if let (Some(_), None) = (cap, amount) {
            return Err(wording::no_price(to));
        }
        let hold = Hold {
            id: Uuid::now_v7().to_string(),
            key: key(&profile.purpose, self.scope),
            rate: None,
            cap_nanos: cap,
            amount_nanos: amount,
            expires_in: EXPIRES,
            bc: self.scope.bc.clone().unwrap_or_default(),
            provider: to.provider.clone(),
            model: to.model.clone(),
            profile_version: profile.version,
            run_id: self.request.run_id().unwrap_or_default().to_owned(),
            turn_id: self.request.place(),
            circuit: circuit.to_owned(),
        };
        let mut waited = Duration::ZERO;
        loop {
            // A call counts once for the rate, however often it is sent.
            let rate = profile.rate_limit.filter(|_| !self.is_counted);
            let hold = Hold {
                rate: rate.map(|limit| RateRule {
                    calls: limit.calls,
                    per_ms: limit.per_ms,
                }),
                ..hold.clone()
            };
            let held = self.plane.store.hold(&hold).await;
            match held.map_err(|error| wording::no_store(&error.into()))? {
                HoldAnswer::Held { warns } => {
                    self.is_counted = true;
                    self.warn(warns);
                    return Ok(Holding {
                        store: self.plane.store.clone(),
                        id: hold.id,
                        amount,
                        cap,
                        span: Span::none(),
                        is_open: true,
                    });
                }
                HoldAnswer::TooOften { wait } if waited + wait <= PATIENCE => {
                    sleep(wait).await;
                    waited += wait;
                }
                HoldAnswer::TooOften { wait } => {
                    return Err(wording::too_often(&profile.purpose, wait));
                }
                HoldAnswer::CapReached { budget } => {
                    let cap = cap.unwrap_or_default();
                    return Err(wording::over_cap(&profile.purpose, cap, amount, budget));
                }
            }
        }
    }

    /// Returns the largest cost that the request can have at a model, from its number of bytes. Returns `None` if the
    /// model has no price, or the length of the reply no bound. Under a cap, the length of the reply always has a
    /// bound.
    fn largest(&self, to: &Candidate) -> Option<u64> {
        let output = u64::from(self.profile.max_tokens()?);
        let input = *self.bytes.get_or_init(|| bytes(&self.request));
        let Candidate { provider, model } = to;
        let prices = &self.plane.prices;
        Some(prices.largest(provider, model, input, output)?.nanos())
    }
}

/// Returns the number of bytes of a request. A token of a text has at least one byte, so a text has no more tokens than
/// bytes. Images and files are counted by their bytes as well, but a provider may bill them by pixels or pages.
fn bytes(request: &Request<'_>) -> u64 {
    /// Number of bytes that are added for the format in which a server passes a message to its model.
    const AROUND: usize = 64;
    let messages = request.messages().iter();
    let messages: usize = messages
        .map(|message| AROUND + serde_json::to_vec(message).map_or(0, |bytes| bytes.len()))
        .sum();
    let tools = request.tools_json().map_or(0, str::len);
    let format = request
        .format()
        .map_or(0, |format| format.to_string().len());
    u64::try_from(messages + tools + format).unwrap_or(u64::MAX)
}

impl Holding {
    /// Ends the hold with what the request has cost. Returns `true` if the day's sum has just reached 80 % of the cap.
    /// If the store fails, the reply is returned all the same, and the hold counts as spent when its time is over.
    pub(super) async fn settle(mut self, settlement: Settlement) -> bool {
        self.is_open = false;
        let settlement = Settlement {
            id: self.id.clone(),
            cap_nanos: self.cap,
            ..settlement
        };
        match self.store.settle_hold(&settlement).await {
            Ok(warns) => warns,
            Err(error) => {
                tracing::warn!(%error, request = self.id, "the cost of a request cannot be stored");
                false
            }
        }
    }
}

impl Drop for Holding {
    /// Ends the hold of a request that was cut off: what was held counts as spent.
    fn drop(&mut self) {
        if !self.is_open {
            return;
        }
        span::cut_off(&self.span, self.amount);
        let Ok(handle) = Handle::try_current() else {
            return;
        };
        let (store, id) = (self.store.clone(), self.id.clone());
        handle.spawn(async move {
            let settlement = Settlement {
                id,
                outcome: span::CUT_OFF.to_owned(),
                ..Settlement::default()
            };
            if let Err(error) = store.settle_hold(&settlement).await {
                tracing::warn!(%error, "the end of a request cannot be stored");
            }
        });
    }
}
