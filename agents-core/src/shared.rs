//! Shared data whose auto traits the compiler looks into once, and not in each async function that holds it.
//!
//! A future that is boxed has to be `Send`. For each such function the compiler looks through everything that lies
//! behind the references in it, and keeps nothing of what it finds for the next function. The data of a run has some
//! hundred types, and some fifty functions hold it: that was half of the time in which this crate was compiled.

use std::{fmt, ops::Deref, sync::Arc};

/// Pointer to shared data, as an `Arc`. The data's type lies behind a trait object, which ends the compiler's search.
pub(crate) struct Shared<T>(Arc<dyn Held<T>>);

/// Helper bound: data of the type `T`, which threads may share.
trait Held<T>: Send + Sync {
    fn get(&self) -> &T;
}

impl<T: Send + Sync> Held<T> for T {
    fn get(&self) -> &T {
        self
    }
}

impl<T: Send + Sync + 'static> Shared<T> {
    /// Creates a pointer to this data. Clones of the pointer share the data.
    pub(crate) fn new(data: T) -> Self {
        Shared(Arc::new(data))
    }
}

impl<T> Shared<T> {
    /// Returns a copy of the data.
    pub(crate) fn to_owned(&self) -> T
    where
        T: Clone,
    {
        (**self).clone()
    }

    /// Returns `true` if both pointers point to the same data.
    #[cfg(feature = "compose")]
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        std::ptr::eq(&**self, &**other)
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Shared(self.0.clone())
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        (*self.0).get()
    }
}

impl<T: Default + Send + Sync + 'static> Default for Shared<T> {
    fn default() -> Self {
        Shared::new(T::default())
    }
}

impl<T: fmt::Debug> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
