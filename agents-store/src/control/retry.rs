//! Retry budgets.

/// Change of the retries that are left to an organisation, in tenths of a retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryChange {
    /// Tenths of a retry that the organisation has earned.
    pub earned: u32,
    /// Tenths of a retry that it takes, after what it has earned was added.
    pub taken: u32,
    /// Most tenths of a retry that it can have saved up. It has as many before its first retry.
    pub most: u32,
}
