//! Retry budgets.

/// Change of the retries that are left to an organisation, in tenths of a retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryChange {
    /// Number of tenths of a retry that the organisation has earned.
    pub earned: u32,
    /// Number of tenths of a retry that the organisation takes, after what it has earned was added.
    pub taken: u32,
    /// Maximum number of tenths of a retry that the organisation can have saved up. It has as many before its first
    /// change.
    pub most: u32,
}
