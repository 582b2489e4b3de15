//! Providers: code that makes the client of a model.

use agents_core::{Model, secret::SecretValue};
use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

/// Model that a provider makes a client of.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Target<'a> {
    /// Name of the model, as the provider knows it.
    pub model: &'a str,
    /// Key to send; `None` if the profile names no credential.
    pub key: Option<&'a SecretValue>,
}

type Make = Arc<dyn Fn(&Target<'_>) -> Arc<dyn Model> + Send + Sync>;

/// Providers by name, with the clients that they have made.
#[derive(Default)]
pub(crate) struct Providers {
    makers: HashMap<String, Make>,
    clients: Mutex<HashMap<(String, String), Arc<dyn Model>>>,
}

impl Providers {
    pub(crate) fn add<M: Model>(
        &mut self,
        name: String,
        make: impl Fn(&Target<'_>) -> M + Send + Sync + 'static,
    ) {
        let make: Make = Arc::new(move |target| Arc::new(make(target)));
        self.makers.insert(name, make);
    }

    /// Returns the client of a model, which is made once; `None` if there is no such provider.
    pub(crate) fn client(&self, provider: &str, target: &Target<'_>) -> Option<Arc<dyn Model>> {
        let make = self.makers.get(provider)?;
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        let name = (provider.to_owned(), target.model.to_owned());
        let client = clients.entry(name).or_insert_with(|| make(target));
        Some(client.clone())
    }
}

impl fmt::Debug for Providers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.makers.keys()).finish()
    }
}
