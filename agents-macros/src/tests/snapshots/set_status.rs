/// Moves a lead to another status.
async fn set_status(
    lead_id: u64,
    new_status: Status,
    crm: Crm,
) -> Result<Change, CrmError> {
    body
}
#[cfg(doc)]
/// Moves a lead to another status.
struct SetStatus {
    /// Handed to [`set_status`] with every call.
    crm: Crm,
}
#[cfg(not(doc))]
#[allow(trivial_bounds, unused_qualifications)]
/// Moves a lead to another status.
struct SetStatus
where
    Self: ::agents::__rt::GeneratedType,
{
    /// Handed to [`set_status`] with every call.
    crm: Crm,
}
#[doc(hidden)]
#[allow(deprecated, non_upper_case_globals)]
const SetStatus: ::agents::__rt::Uninjected<SetStatus> = ::agents::__rt::Uninjected::NEW;
#[allow(trivial_bounds, unused_qualifications)]
const _: () = {
    use ::agents::__rt;
    #[automatically_derived]
    #[diagnostic::do_not_recommend]
    impl __rt::GeneratedType for SetStatus {}
    #[automatically_derived]
    impl __rt::Clone for SetStatus
    where
        Crm: __rt::Injected,
    {
        fn clone(&self) -> Self {
            SetStatus {
                crm: __rt::Injected::copied(&self.crm),
            }
        }
    }
    #[derive(::agents::__rt::serde::Deserialize, ::agents::__rt::schemars::JsonSchema)]
    #[serde(crate = "::agents::__rt::serde", deny_unknown_fields)]
    #[schemars(crate = "::agents::__rt::schemars")]
    pub struct ArgumentsOfSetStatus
    where
        u64: __rt::Argument,
        Status: __rt::Argument,
    {
        /// Which lead.
        #[serde(rename = "leadId")]
        lead_id: <u64 as __rt::Argument>::Type,
        /// Its new status.
        new_status: <Status as __rt::Argument>::Type,
    }
    #[automatically_derived]
    impl __rt::Tool for SetStatus
    where
        u64: __rt::Argument,
        Status: __rt::Argument,
        Crm: __rt::Injected,
        <Result<Change, CrmError> as __rt::Returns>::Ok: __rt::ToolOutput,
        <Result<Change, CrmError> as __rt::Returns>::Err: __rt::ToolFault,
    {
        type Args = ArgumentsOfSetStatus;
        type Ok = <<Result<
            Change,
            CrmError,
        > as __rt::Returns>::Ok as __rt::ToolOutput>::Type;
        type Err = <<Result<
            Change,
            CrmError,
        > as __rt::Returns>::Err as __rt::ToolFault>::Type;
        fn spec(&self) -> &__rt::ToolSpec {
            use __rt::NoSchema as _;
            static SPEC: __rt::OnceLock<__rt::ToolSpec> = __rt::OnceLock::new();
            SPEC.get_or_init(|| {
                __rt::ToolSpec::of::<
                    ArgumentsOfSetStatus,
                >("set_status", "Moves a lead to another status.", __rt::Effects::Writes)
                    .risk(__rt::Risk::High)
                    .effect_description("move {leadId} to {new_status}")
                    .undoable()
                    .output_schema(
                        (&__rt::SchemaProbe::<<SetStatus as __rt::Tool>::Ok>::NEW)
                            .output_schema(),
                    )
            })
        }
        async fn call(
            &self,
            args: ArgumentsOfSetStatus,
            _: &__rt::ToolContext,
        ) -> __rt::Result<Self::Ok, Self::Err> {
            set_status(
                    __rt::Argument::unpack(args.lead_id),
                    __rt::Argument::unpack(args.new_status),
                    __rt::Injected::copied(&self.crm),
                )
                .await
                .map(__rt::ToolOutput::pack)
                .map_err(__rt::ToolFault::pack)
        }
        fn on_error(
            &self,
            error: __rt::CallError<'_, Self::Err>,
            cx: &__rt::ErrorContext,
        ) -> __rt::Option<__rt::Plan> {
            use __rt::NoArms as _;
            (&__rt::ArmsProbe(self))
                .on_error(
                    __rt::unpacked::<
                        <Result<Change, CrmError> as __rt::Returns>::Err,
                    >(error),
                    cx,
                )
        }
        fn fixers(&self) -> __rt::Vec<__rt::Arc<dyn __rt::Fixer>> {
            use __rt::NoFixers as _;
            (&__rt::ArmsProbe(self)).fixers()
        }
        fn failure(error: &Self::Err) -> (__rt::Code, __rt::Option<__rt::Duration>) {
            use __rt::NoFacts as _;
            (&__rt::FailureProbe(error)).facts()
        }
        fn told(error: &Self::Err) -> __rt::String {
            use __rt::{HoldsError as _, OnlyText as _};
            (&__rt::ChainProbe(error)).said()
        }
        fn hash_instance(&self, state: &mut dyn __rt::Hasher) {
            use __rt::NotHashed as _;
            (&__rt::HashProbe(&self.crm)).feed(state);
        }
        async fn in_doubt(
            &self,
            args: ArgumentsOfSetStatus,
            cx: &__rt::ToolContext,
        ) -> __rt::InDoubt<Self::Ok> {
            use __rt::SaysNothing as _;
            __rt::found_out(self.__in_doubt(args, cx).await, cx)
        }
        async fn undo(
            &self,
            args: ArgumentsOfSetStatus,
            output: __rt::StoredOutput<Self::Ok>,
            cx: &__rt::ToolContext,
        ) -> __rt::Result<__rt::Undone, __rt::ToolError> {
            use __rt::HasNoUndo as _;
            __rt::undoing(self.__undo(args, output.json(), cx).await)
        }
    }
    #[automatically_derived]
    #[diagnostic::do_not_recommend]
    impl __rt::ToolName for SetStatus {
        const NAME: &'static str = "set_status";
    }
    #[automatically_derived]
    impl __rt::Fails for SetStatus {
        type With = <Result<Change, CrmError> as __rt::Returns>::Err;
    }
    #[automatically_derived]
    impl __rt::Fallible for SetStatus {}
    #[automatically_derived]
    #[diagnostic::do_not_recommend]
    impl __rt::MayBeInDoubt for SetStatus
    where
        u64: __rt::Argument,
        Status: __rt::Argument,
    {
        type Args = ArgumentsOfSetStatus;
        type Found = <Result<Change, CrmError> as __rt::Returns>::Ok;
    }
    #[automatically_derived]
    #[diagnostic::do_not_recommend]
    impl __rt::MayBeUndone for SetStatus
    where
        u64: __rt::Argument,
        Status: __rt::Argument,
    {
        type Args = ArgumentsOfSetStatus;
        type Output = <Result<Change, CrmError> as __rt::Returns>::Ok;
    }
    impl SetStatus {
        #[doc(hidden)]
        fn __listed(self) -> __rt::SharedTool {
            use __rt::Refused as _;
            __rt::Listing(self).shared()
        }
    }
    impl SetStatus
    where
        u64: __rt::Argument,
        Status: __rt::Argument,
        Crm: __rt::Injected,
        <Result<Change, CrmError> as __rt::Returns>::Ok: __rt::ToolOutput,
        <Result<Change, CrmError> as __rt::Returns>::Err: __rt::ToolFault,
        <Result<Change, CrmError> as __rt::Returns>::Ok: __rt::ReadBack,
    {
        pub(crate) async fn __undo(
            &self,
            args: ArgumentsOfSetStatus,
            stored: &__rt::Json,
            cx: &__rt::ToolContext,
        ) -> __rt::Result<__rt::Undone, __rt::CannotUndo> {
            #[allow(unused_variables, reason = "not everything undoes a call")]
            let (cx, stored) = (cx, stored);
            #[allow(unused_variables, reason = "not everything undoes a call")]
            let lead_id: u64 = __rt::Argument::unpack(args.lead_id);
            #[allow(unused_variables, reason = "not everything undoes a call")]
            let new_status: Status = __rt::Argument::unpack(args.new_status);
            #[allow(unused_variables, reason = "not everything undoes a call")]
            let crm = __rt::Injected::copied(&self.crm);
            let Change {
                previous,
                ..
            }: <Result<Change, CrmError> as __rt::Returns>::Ok = __rt::ReadBack::read_back(
                stored,
            )?;
            #[allow(unused_imports, reason = "not every value has to be converted")]
            use __rt::{Said as _, undos::*};
            __rt::Undoing({
                    if previous == new_status {
                        return __rt::Undoing(Ok(undone())).said();
                    }
                    crm.restore(lead_id, previous).await
                })
                .said()
        }
    }
    const _: fn() = || {
        #[allow(unused_variables, reason = "not every argument is in the text")]
        let lead_id = __rt::Shown;
        #[allow(unused_variables, reason = "not every argument is in the text")]
        let new_status = __rt::Shown;
        let _ = ::core::format_args!("move {lead_id} to {new_status:?}");
    };
};
