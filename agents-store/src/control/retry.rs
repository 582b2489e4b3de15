//! Retry budgets.

/// Change of the retries that are left to an organisation, in tenths of a retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryChange {
    /// Tenths that the organisation has earned.
    pub earned: u32,
    /// Tenths that it takes after that.
    pub taken: u32,
    /// Most that it may have at once, and has before its first retry.
    pub most: u32,
}
