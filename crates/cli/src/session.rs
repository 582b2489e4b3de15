//! Session of the command line: a store, its keys, and the person who acts.

use crate::{
    args::{RoleFor, SessionArgs},
    failure::Failure,
};
use agents_runtime::{Approvals, Client, FileKeyring, Principal, Roles, Runtime, SqliteStore};
use agents_store::{Approval, Run, Store};
use std::{path::Path, sync::Arc};

/// Store of a command with its keys, and the person for whom the command acts.
pub(crate) struct Session {
    pub(crate) store: Arc<dyn Store>,
    /// Client of the store, which has the keys if the keyring was found.
    client: Client,
    /// Text about the keyring that was not found, for errors; `None` if the keyring was found.
    missing_keyring: Option<String>,
    pub(crate) who: Principal,
    /// Tenant whose runs the user of the command may see; `None` for all.
    pub(crate) tenant: Option<String>,
}

impl Session {
    /// Opens the store. A file of SQLite that is not there is an error, and is not created.
    pub(crate) async fn open(args: SessionArgs, tenant: Option<String>) -> Result<Self, Failure> {
        let store = open_store(&args.store).await?;
        let keyring = match args.keyring {
            Some(path) if !path.exists() => {
                return Err(crate::wording::no_keyring_there(&path));
            }
            Some(path) => Some(path),
            None => store.keys_beside(),
        };
        let demanded = args.roles_for.into_iter();
        let roles = demanded.fold(Roles::new(), |roles, demanded| match demanded {
            RoleFor::Risk(risk, role) => roles.for_risk(risk, role),
            RoleFor::Action(action, role) => roles.for_action(action, role),
        });
        let mut client = Runtime::client(store.clone()).roles(roles);
        let missing_keyring = match keyring {
            Some(path) if path.exists() => {
                client = client.keyring(FileKeyring::open(&path)?);
                None
            }
            Some(path) => Some(crate::wording::no_keyring_at(&path)),
            None => Some(crate::wording::no_keyring_beside()),
        };
        let (who, tenant) = match args.name {
            None => (Principal::operator(), tenant),
            Some(name) => {
                let tenant = tenant.unwrap_or_default();
                let named = Principal::new(name, &tenant);
                (args.roles.iter().fold(named, Principal::role), Some(tenant))
            }
        };
        Ok(Session {
            store,
            client,
            missing_keyring,
            who,
            tenant,
        })
    }

    /// Returns the client, for work that needs no keys.
    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Returns the client, for work that reads contents; an error if the keyring was not found.
    pub(crate) fn with_keys(&self) -> Result<&Client, Failure> {
        match &self.missing_keyring {
            None => Ok(&self.client),
            Some(missing) => Err(crate::wording::keyring_needed(missing)),
        }
    }

    /// Returns the requests for approval, for commands that decide; an error if the keyring was not found.
    pub(crate) fn approvals(&self) -> Result<Approvals, Failure> {
        Ok(self.with_keys()?.approvals())
    }

    fn sees(&self, tenant: &str) -> bool {
        self.tenant.as_deref().is_none_or(|own| own == tenant)
    }

    /// Returns the run with this id; an error if the user of the command may not see it.
    pub(crate) async fn run(&self, id: &str) -> Result<Run, Failure> {
        let found = self.store.run(id).await?;
        found
            .filter(|run| self.sees(&run.tenant))
            .ok_or_else(|| crate::wording::no_run(id))
    }

    /// Returns the request for approval with this id; an error if the user of the command may not see it.
    pub(crate) async fn request(&self, id: &str) -> Result<Approval, Failure> {
        let found = self.store.approval(id).await?;
        let own = found.filter(|request| self.sees(&request.tenant_id));
        own.ok_or_else(|| crate::wording::no_request(id))
    }
}

async fn open_store(url: &str) -> Result<Arc<dyn Store>, Failure> {
    let (scheme, rest) = url.split_once(':').unwrap_or(("", url));
    match scheme {
        "sqlite" if !rest.is_empty() => {
            // `sqlite:///var/agents.db` is an absolute path, too.
            let path = rest.strip_prefix("//").unwrap_or(rest);
            let opened = SqliteStore::open_existing(Path::new(path)).await;
            let opened = opened.map_err(|error| match error.kind() {
                agents_store::ErrorKind::NotFound => crate::wording::no_store(&error),
                _ => error.into(),
            });
            Ok(Arc::new(opened?))
        }
        #[cfg(feature = "postgres")]
        "postgres" | "postgresql" => {
            let store = agents_runtime::PostgresStore::connect(url).await?;
            Ok(Arc::new(store))
        }
        #[cfg(not(feature = "postgres"))]
        "postgres" | "postgresql" => Err(crate::wording::without_postgres()),
        _ => Err(crate::wording::not_a_store()),
    }
}
