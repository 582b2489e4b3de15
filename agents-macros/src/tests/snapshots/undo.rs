#[allow(trivial_bounds, unused_qualifications)]
const _: () = {
    use ::agents::__rt;
    impl SetStatus
    where
        <SetStatus as __rt::MayBeUndone>::Output: __rt::ReadBack,
    {
        pub(crate) async fn __undo(
            &self,
            args: <SetStatus as __rt::MayBeUndone>::Args,
            stored: &__rt::Json,
            cx: &__rt::ToolContext,
        ) -> __rt::Result<__rt::Undone, __rt::CannotUndo> {
            #[allow(unused_variables, reason = "not everything undoes a call")]
            let (cx, stored) = (cx, stored);
            let change: <SetStatus as __rt::MayBeUndone>::Output = __rt::ReadBack::read_back(
                stored,
            )?;
            #[allow(unused_imports, reason = "not every value has to be converted")]
            use __rt::{Said as _, undos::*};
            __rt::Undoing(self.crm.restore(args.lead_id, change.previous).await).said()
        }
    }
    impl SetStatus {
        #[doc(hidden)]
        pub(crate) const __HAS_UNDO: bool = true;
    }
};
