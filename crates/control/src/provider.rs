//! Providers: code that makes the client of a model.

use agents_core::{
    Model,
    secret::{ExposeSecret, SecretString},
};
use std::{
    collections::HashMap,
    fmt,
    hash::{BuildHasher, RandomState},
    sync::{Arc, Mutex, PoisonError},
};

/// Model for which a provider is to make a client.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Target<'a> {
    /// Name of the model, as the provider knows it.
    pub model: &'a str,
    /// Key to send with each request, such as an API key; `None` if the model is asked without a credential. The
    /// credential of a profile is not for fallbacks of another provider.
    pub key: Option<&'a SecretString>,
    /// Largest number of tokens of a reply; `None` if the profile sets none and has no cap. The largest cost of a request
    /// depends on it, so the client has to send it.
    pub max_tokens: Option<u32>,
}

type Make = Arc<dyn Fn(&Target<'_>) -> Arc<dyn Model> + Send + Sync>;

/// Key by which the client for a model is found again for later requests.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ClientKey {
    pub(crate) provider: String,
    pub(crate) model: String,
    /// Owner of the credential (platform, organisation or workspace) and its name; empty without a credential.
    pub(crate) credential: String,
    pub(crate) max_tokens: Option<u32>,
}

struct Client {
    /// Hash of the API key that the client sends, by which a changed key is noticed.
    sends: u64,
    model: Arc<dyn Model>,
}

/// Providers of a control plane, by name, with the clients that they have made.
#[derive(Default)]
pub(crate) struct Providers {
    makers: HashMap<String, Make>,
    clients: Mutex<HashMap<ClientKey, Client>>,
    hasher: RandomState,
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

    /// Returns the client that asks a model. It is made once, and anew if the API key has changed. `None` if there is
    /// no such provider.
    pub(crate) fn client(
        &self,
        of: &ClientKey,
        key: Option<&SecretString>,
    ) -> Option<Arc<dyn Model>> {
        let make = self.makers.get(&of.provider)?;
        let text = key.map(ExposeSecret::expose_secret);
        let sends = self.hasher.hash_one(text);
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(of).filter(|client| client.sends == sends) {
            return Some(client.model.clone());
        }
        let target = Target {
            model: &of.model,
            key,
            max_tokens: of.max_tokens,
        };
        let model = make(&target);
        let client = Client {
            sends,
            model: model.clone(),
        };
        // A key that was changed takes the place of the one before.
        clients.insert(of.clone(), client);
        Some(model)
    }
}

impl fmt::Debug for Providers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.makers.keys()).finish()
    }
}
