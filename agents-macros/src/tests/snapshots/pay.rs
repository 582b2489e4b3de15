/// Pays.
async fn pay(
    amount: u32,
    bank: Bank,
    log: &Log,
    context: &ToolContext,
) -> Result<Receipt, BankError> {
    body
}
#[cfg(doc)]
/// Pays.
struct Pay {
    /// Handed to [`pay`] with every call.
    bank: Bank,
    /// Handed to [`pay`] with every call.
    log: Log,
}
#[cfg(not(doc))]
#[allow(trivial_bounds, unused_qualifications)]
/// Pays.
struct Pay
where
    Self: ::agents::__rt::GeneratedType,
{
    /// Handed to [`pay`] with every call.
    bank: Bank,
    /// Handed to [`pay`] with every call.
    log: Log,
}
#[doc(hidden)]
#[allow(deprecated, non_upper_case_globals)]
const Pay: ::agents::__rt::Uninjected<Pay> = ::agents::__rt::Uninjected::NEW;
#[allow(trivial_bounds, unused_qualifications)]
const _: () = {
    use ::agents::__rt;
    #[automatically_derived]
    #[diagnostic::do_not_recommend]
    impl __rt::GeneratedType for Pay {}
    #[automatically_derived]
    impl __rt::Clone for Pay
    where
        Bank: __rt::Injected,
        Log: __rt::Injected,
    {
        fn clone(&self) -> Self {
            Pay {
                bank: __rt::Injected::copied(&self.bank),
                log: __rt::Injected::copied(&self.log),
            }
        }
    }
    #[derive(::agents::__rt::serde::Deserialize, ::agents::__rt::schemars::JsonSchema)]
    #[serde(crate = "::agents::__rt::serde", deny_unknown_fields)]
    #[schemars(crate = "::agents::__rt::schemars")]
    pub struct ArgumentsOfPay
    where
        u32: __rt::Argument,
    {
        /// Amount in cents.
        amount: <u32 as __rt::Argument>::Type,
    }
    #[automatically_derived]
    impl __rt::Tool for Pay
    where
        u32: __rt::Argument,
        Bank: __rt::Injected,
        Log: __rt::Injected,
        <Result<Receipt, BankError> as __rt::Returns>::Ok: __rt::ToolOutput,
        <Result<Receipt, BankError> as __rt::Returns>::Err: __rt::ToolFault,
    {
        type Args = ArgumentsOfPay;
        type Ok = <<Result<
            Receipt,
            BankError,
        > as __rt::Returns>::Ok as __rt::ToolOutput>::Type;
        type Err = <<Result<
            Receipt,
            BankError,
        > as __rt::Returns>::Err as __rt::ToolFault>::Type;
        fn spec(&self) -> &__rt::ToolSpec {
            use __rt::{HasNoUndo as _, NoSchema as _};
            static SPEC: __rt::OnceLock<__rt::ToolSpec> = __rt::OnceLock::new();
            SPEC.get_or_init(|| {
                __rt::with_undo(
                    __rt::ToolSpec::of::<
                        ArgumentsOfPay,
                    >("pay", "Pays.", __rt::Effects::Writes)
                        .output_schema(
                            (&__rt::SchemaProbe::<<Pay as __rt::Tool>::Ok>::NEW)
                                .output_schema(),
                        ),
                    Pay::__HAS_UNDO,
                )
            })
        }
        async fn call(
            &self,
            args: ArgumentsOfPay,
            cx: &__rt::ToolContext,
        ) -> __rt::Result<Self::Ok, Self::Err> {
            pay(
                    __rt::Argument::unpack(args.amount),
                    __rt::Injected::copied(&self.bank),
                    &self.log,
                    cx,
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
                        <Result<Receipt, BankError> as __rt::Returns>::Err,
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
            (&__rt::HashProbe(&self.bank)).feed(state);
            (&__rt::HashProbe(&self.log)).feed(state);
        }
        async fn in_doubt(
            &self,
            args: ArgumentsOfPay,
            cx: &__rt::ToolContext,
        ) -> __rt::InDoubt<Self::Ok> {
            use __rt::SaysNothing as _;
            __rt::found_out(self.__in_doubt(args, cx).await, cx)
        }
        async fn undo(
            &self,
            args: ArgumentsOfPay,
            output: __rt::StoredOutput<Self::Ok>,
            cx: &__rt::ToolContext,
        ) -> __rt::Result<__rt::Undone, __rt::ToolError> {
            use __rt::HasNoUndo as _;
            __rt::undoing(self.__undo(args, output.json(), cx).await)
        }
    }
    #[automatically_derived]
    #[diagnostic::do_not_recommend]
    impl __rt::ToolName for Pay {
        const NAME: &'static str = "pay";
    }
    #[automatically_derived]
    impl __rt::Fails for Pay {
        type With = <Result<Receipt, BankError> as __rt::Returns>::Err;
    }
    #[automatically_derived]
    impl __rt::Fallible for Pay {}
    #[automatically_derived]
    #[diagnostic::do_not_recommend]
    impl __rt::MayBeInDoubt for Pay
    where
        u32: __rt::Argument,
    {
        type Args = ArgumentsOfPay;
        type Found = <Result<Receipt, BankError> as __rt::Returns>::Ok;
    }
    #[automatically_derived]
    #[diagnostic::do_not_recommend]
    impl __rt::MayBeUndone for Pay
    where
        u32: __rt::Argument,
    {
        type Args = ArgumentsOfPay;
        type Output = <Result<Receipt, BankError> as __rt::Returns>::Ok;
    }
    impl Pay {
        #[doc(hidden)]
        fn __listed(self) -> __rt::SharedTool {
            use __rt::Refused as _;
            __rt::Listing(self).shared()
        }
    }
    impl Pay
    where
        u32: __rt::Argument,
        Bank: __rt::Injected,
        Log: __rt::Injected,
        <Result<Receipt, BankError> as __rt::Returns>::Ok: __rt::ToolOutput,
        <Result<Receipt, BankError> as __rt::Returns>::Err: __rt::ToolFault,
    {
        pub(crate) async fn __in_doubt(
            &self,
            args: ArgumentsOfPay,
            cx: &__rt::ToolContext,
        ) -> __rt::Result<
            __rt::InDoubt<<Result<Receipt, BankError> as __rt::Returns>::Ok>,
            __rt::CannotTell,
        > {
            #[allow(
                unused_variables,
                reason = "not everything tells what became of an execution"
            )]
            let cx = cx;
            #[allow(
                unused_variables,
                reason = "not everything tells what became of an execution"
            )]
            let amount: u32 = __rt::Argument::unpack(args.amount);
            #[allow(
                unused_variables,
                reason = "not everything tells what became of an execution"
            )]
            let bank = __rt::Injected::copied(&self.bank);
            #[allow(
                unused_variables,
                reason = "not everything tells what became of an execution"
            )]
            let log = &self.log;
            #[allow(
                unused_variables,
                reason = "not everything tells what became of an execution"
            )]
            let context = cx;
            let key = cx.idempotency_key();
            use __rt::doubts::*;
            let known: __rt::InDoubt<
                <Result<Receipt, BankError> as __rt::Returns>::Ok,
            > = {
                let Some(receipt) = bank.find(key).await? else {
                    return __rt::known(not_done())
                };
                done(receipt)
            };
            __rt::Ok(known)
        }
    }
};
