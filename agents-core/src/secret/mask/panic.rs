//! Panic hook that masks secrets in the messages of panics.

use super::Masker;
use std::{
    borrow::Cow,
    panic::{PanicHookInfo, set_hook, take_hook},
    sync::{Arc, Mutex, Once, PoisonError, Weak},
};

/// Maskers of the runs that have secrets at present, for the panic hook.
static WATCHED: Mutex<Vec<Weak<Masker>>> = Mutex::new(Vec::new());

/// Registers the masker of a run that has secrets. From now on, neither panics nor [`Masked`](crate::secret::Masked)
/// writers show the secrets of that run.
pub(super) fn watch(masker: &Arc<Masker>) {
    {
        let mut watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
        watched.retain(|masker| masker.strong_count() > 0);
        watched.push(Arc::downgrade(masker));
    }
    // The first secret of the process installs the hook. Without a secret no hook is installed.
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| match told(panic) {
            Some(message) => tracing::error!("{message}"),
            None => before(panic),
        }));
    });
}

/// Returns the text with the secrets of all runs in progress masked.
pub(in crate::secret) fn masked(text: &str) -> Cow<'_, str> {
    let watched: Vec<_> = {
        let watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
        watched.iter().filter_map(Weak::upgrade).collect()
    };
    watched.iter().fold(Cow::Borrowed(text), |text, masker| {
        match masker.text(&text) {
            Cow::Owned(masked) => Cow::Owned(masked),
            Cow::Borrowed(_) => text,
        }
    })
}

/// Returns the masked message of a panic whose message holds a secret. Returns `None` for any other panic, which
/// the earlier hook then prints.
fn told(panic: &PanicHookInfo<'_>) -> Option<String> {
    let message = panic.payload_as_str()?;
    match masked(message) {
        Cow::Borrowed(_) => None,
        Cow::Owned(masked) => {
            let place = panic.location().map(ToString::to_string);
            Some(format!(
                "panicked at {}: {masked}",
                place.unwrap_or_default()
            ))
        }
    }
}
