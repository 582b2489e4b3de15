//! Masking of the data that a run tells of, such as receipts.

use super::Masker;
use crate::{
    error::ErrorRecord,
    escalation::{Escalation, EscalationReceipt, RefusedResolution},
    run::{Approval, ApprovalRequest, Instruction, Repairs, Stopped, ToolEnvelope},
};

/// Defines [`Masks`] and the types that it masks.
macro_rules! masks {
    ($($field:ident: $Data:ty,)*) => {
        /// Functions that mask the data that a run tells of, one for each type.
        ///
        /// Every [`SecretValue`](crate::secret::SecretValue) brings them to the maskers that learn it. A program that
        /// makes no such value has no use for them, and does not compile them: they write and read ten types, with all that lies within them.
        pub(crate) struct Masks {
            $($field: fn(&Masker, $Data) -> $Data,)*
        }

        impl Masks {
            /// All functions. A function that names this constant, or makes a `SecretValue`, has to be generic or `#[inline]`:
            /// otherwise every program compiles all of them.
            pub(in crate::secret) const ALL: Masks = Masks {
                $($field: Masker::data::<$Data>,)*
            };
        }

        $(impl Maskable for $Data {
            fn of(masks: &Masks) -> fn(&Masker, Self) -> Self {
                masks.$field
            }
        })*
    };
}

/// Type of data that a run tells of.
pub(crate) trait Maskable: Sized {
    /// Returns the function that masks data of this type.
    fn of(masks: &Masks) -> fn(&Masker, Self) -> Self;
}

masks! {
    receipt: ToolEnvelope,
    error: ErrorRecord,
    repairs: Repairs,
    approval: Approval,
    request: ApprovalRequest,
    escalation: Escalation,
    refused: RefusedResolution,
    settled: EscalationReceipt,
    stopped: Stopped,
    instruction: Instruction,
}

impl Masker {
    /// Masks the secrets in data that the run tells of, as [`Masker::data`] does.
    pub(crate) fn mask<T: Maskable>(&self, data: T) -> T {
        match self.masks.get() {
            Some(masks) => T::of(masks)(self, data),
            None => data,
        }
    }
}
