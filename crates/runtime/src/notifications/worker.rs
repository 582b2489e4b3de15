//! The part of a worker that brings letters to subscribers.

use super::{
    Failures, NotificationContents, Subscriber, Told, contents::Failure, key_of_letter, wording,
};
use crate::{Runtime, RuntimeError, metrics::count, run_key::RunKey, summary::masked};
use agents_store::{Letter, LetterClaim, LetterEnd, LetterFailure};
use futures_util::FutureExt;
use std::{any::Any, panic::AssertUnwindSafe, time::Duration};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

/// Time between two looks for letters that are due.
const PAUSE: Duration = Duration::from_millis(200);
/// Maximum number of letters that a worker brings at the same time.
const AT_ONCE: usize = 16;

/// Failure of a try to bring a letter: its kind, its text, and whether there is another try.
struct Failed {
    kind: LetterFailure,
    error: String,
    is_final: bool,
}

impl Runtime {
    /// Brings letters to the subscribers of this runtime until `stop` is cancelled.
    pub(crate) async fn bring_letters(&self, stop: &CancellationToken) {
        let mut under_way = JoinSet::new();
        while !stop.is_cancelled() {
            while under_way.try_join_next().is_some() {}
            let room = AT_ONCE - under_way.len();
            let news = self.shared.letters.notified();
            let mut pause = PAUSE;
            match self.due_letters(room).await {
                Ok(letters) => {
                    let is_more = !letters.is_empty();
                    for letter in letters {
                        let runtime = self.clone();
                        under_way.spawn(async move { runtime.bring(letter).await });
                    }
                    if is_more {
                        continue;
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "the store cannot be asked for letters");
                    pause = PAUSE * 10;
                }
            }
            let has_room = under_way.len() < AT_ONCE;
            tokio::select! {
                () = stop.cancelled() => {}
                () = tokio::time::sleep(pause) => {}
                () = news, if has_room => {}
                Some(_) = under_way.join_next(), if !has_room => {}
            }
        }
        while under_way.join_next().await.is_some() {}
    }

    /// Claims letters that are due, each for twice the longest time that a subscriber of this runtime may need.
    async fn due_letters(&self, room: usize) -> Result<Vec<Letter>, RuntimeError> {
        if room == 0 {
            return Ok(Vec::new());
        }
        self.subscribe().await?;
        let subscribers = self.settings.subscribers.iter();
        let longest = subscribers.clone().map(Subscriber::limit).max();
        let claim = LetterClaim {
            subscribers: subscribers.map(|one| one.name().to_owned()).collect(),
            time: longest.unwrap_or_default() * 2,
            limit: u32::try_from(room).unwrap_or(u32::MAX),
        };
        Ok(self.client.store().await?.claim_letters(&claim).await?)
    }

    /// Brings a letter to its subscriber, and stores how it went.
    async fn bring(&self, letter: Letter) {
        let span = tracing::info_span!(
            "notification",
            notification = %letter.name,
            subscriber = %letter.subscriber,
            id = %letter.notification,
            attempt = letter.attempts
        );
        let end = self.tried(&letter).instrument(span).await;
        let stored = async {
            self.client
                .store()
                .await?
                .end_letter(&letter, &end)
                .await
                .map_err(RuntimeError::from)
        };
        if let Err(error) = stored.await {
            tracing::warn!(letter = letter.id, %error, "the end of a try is not stored; the letter is tried again");
        }
    }

    /// Makes one try to bring a letter, and returns how it ended.
    async fn tried(&self, letter: &Letter) -> LetterEnd {
        let counters = &self.shared.counters;
        let subscribers = &self.settings.subscribers;
        let subscriber = subscribers
            .iter()
            .find(|one| one.name() == letter.subscriber);
        let keys = self.client.keys();
        let key = keys.and_then(|keys| key_of_letter(letter, &*keys));
        let Some(subscriber) = subscriber else {
            // It was claimed for a subscriber that this worker has.
            return later(letter);
        };
        let key = match key {
            Ok(key) => key,
            Err(error) if error.may_pass() => return later(letter),
            Err(error) => {
                // Without the key, no text can be encrypted. Whoever looks at the letter is told the reason.
                tracing::error!(letter = letter.id, %error, "a letter cannot be read, and is dead");
                count(&counters.letters_died);
                return LetterEnd::Dead {
                    failure: LetterFailure::Unreadable,
                    failures: letter.failures.clone(),
                };
            }
        };
        match self.told(subscriber, letter, &key).await {
            Ok(()) => {
                count(&counters.letters_taken);
                LetterEnd::Taken
            }
            Err(failed) => self.failed(subscriber, letter, &key, failed).await,
        }
    }

    /// Returns the end of a try that has failed: another try later, or the letter's death.
    async fn failed(
        &self,
        subscriber: &Subscriber,
        letter: &Letter,
        key: &RunKey,
        failed: Failed,
    ) -> LetterEnd {
        let Failed {
            kind,
            error,
            is_final,
        } = failed;
        let next = subscriber.next_after(letter.attempts);
        let next = next.filter(|_| !is_final);
        let error = masked(&error);
        tracing::warn!(
            error,
            last = next.is_none(),
            "a subscriber has not taken a notification"
        );
        let now = self.client.bare_store().now().await;
        let at = now.unwrap_or(letter.published_at);
        let mut failures = Failures::of(letter, key);
        if is_interrupted(letter, key) {
            failures.add(Failure {
                attempt: letter.fence - 1,
                at,
                kind: LetterFailure::Interrupted,
                error: wording::NOT_BACK.to_owned(),
            });
        }
        if kind != LetterFailure::Interrupted {
            failures.add(Failure {
                attempt: letter.fence,
                at,
                kind,
                error,
            });
        }
        let failures = failures.seal(key);
        let failures = failures.unwrap_or_else(|_| letter.failures.clone());
        match next {
            Some(after) => LetterEnd::Again {
                after: spread(after, letter.number),
                failure: kind,
                failures,
            },
            None => {
                count(&self.shared.counters.letters_died);
                LetterEnd::Dead {
                    failure: kind,
                    failures,
                }
            }
        }
    }

    /// Calls the code of a subscriber with a notification.
    async fn told(
        &self,
        subscriber: &Subscriber,
        letter: &Letter,
        key: &RunKey,
    ) -> Result<(), Failed> {
        let unreadable = |error: String| Failed {
            kind: LetterFailure::Unreadable,
            error,
            is_final: true,
        };
        // The last try was made, and its worker has not come back: another one could end this worker, too.
        let is_over = letter.attempts > 1 && subscriber.next_after(letter.attempts - 1).is_none();
        if is_over && is_interrupted(letter, key) {
            return Err(Failed {
                kind: LetterFailure::Interrupted,
                error: wording::NOT_BACK.to_owned(),
                is_final: true,
            });
        }
        let contents = NotificationContents::of(letter, key);
        let contents = contents.map_err(|error| unreadable(error.to_string()))?;
        if letter.name != subscriber.notification() {
            let why = wording::other_name(&letter.name, subscriber.notification());
            return Err(unreadable(why));
        }
        let fits = subscriber.reads(&contents.payload);
        fits.map_err(|error| unreadable(wording::misfit(&letter.name, &error)))?;
        let told = Told {
            id: letter.notification.clone(),
            scope: contents.scope,
            attempt: letter.attempts,
            published_at: letter.published_at,
            published_by: letter.published_by.clone(),
        };
        let taken = AssertUnwindSafe(subscriber.take(contents.payload, told)).catch_unwind();
        match tokio::time::timeout(subscriber.limit(), taken).await {
            Ok(Ok(Ok(()))) => Ok(()),
            Ok(Ok(Err(error))) => Err(Failed {
                kind: LetterFailure::Failed,
                is_final: error.is_final(),
                error: error.to_string(),
            }),
            Ok(Err(panic)) => Err(Failed {
                kind: LetterFailure::Panicked,
                error: wording::panicked(said(&*panic)),
                is_final: false,
            }),
            Err(_) => Err(Failed {
                kind: LetterFailure::TimedOut,
                error: wording::too_slow(subscriber.limit()),
                is_final: false,
            }),
        }
    }
}

/// Returns `true` if the try before this one was interrupted: no worker has stored how it ended.
fn is_interrupted(letter: &Letter, key: &RunKey) -> bool {
    let last = Failures::of(letter, key).0.pop();
    let is_told = last.is_some_and(|last| last.attempt + 1 >= letter.fence);
    letter.attempts > 1 && !is_told
}

/// Returns the end of a try that did not take place: the letter is tried again a little later.
fn later(letter: &Letter) -> LetterEnd {
    LetterEnd::Again {
        after: PAUSE * 10,
        failure: letter.failure.unwrap_or(LetterFailure::Interrupted),
        failures: letter.failures.clone(),
    }
}

/// Returns the text with which a subscriber's code has panicked.
fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or(wording::NO_TEXT)
}

/// Makes a time up to a tenth longer, so that not all letters are tried again at the same moment.
fn spread(time: Duration, number: u64) -> Duration {
    let part = u32::try_from(number % 10).unwrap_or(0);
    time + time / 100 * part
}
