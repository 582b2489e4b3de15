/// Sends an email.
async fn send_email() {}
#[cfg(doc)]
/// Sends an email.
#[derive(Clone, Copy, Debug, Default)]
struct SendEmail;
#[cfg(not(doc))]
#[allow(trivial_bounds, unused_qualifications)]
/// Sends an email.
#[derive(Clone, Copy, Debug, Default)]
struct SendEmail
where
    Self: ::agents::__rt::GeneratedType;
#[allow(trivial_bounds, unused_qualifications)]
const _: () = {
    use ::agents::__rt;
    #[automatically_derived]
    #[diagnostic::do_not_recommend]
    impl __rt::GeneratedType for SendEmail {}
    #[derive(::agents::__rt::serde::Deserialize, ::agents::__rt::schemars::JsonSchema)]
    #[serde(crate = "::agents::__rt::serde", deny_unknown_fields)]
    #[schemars(crate = "::agents::__rt::schemars")]
    pub struct ArgumentsOfSendEmail {}
    #[automatically_derived]
    impl __rt::Tool for SendEmail
    where
        (): __rt::ToolOutput,
    {
        type Args = ArgumentsOfSendEmail;
        type Ok = <() as __rt::ToolOutput>::Type;
        type Err = __rt::Infallible;
        fn spec(&self) -> &__rt::ToolSpec {
            use __rt::NoSchema as _;
            static SPEC: __rt::OnceLock<__rt::ToolSpec> = __rt::OnceLock::new();
            SPEC.get_or_init(|| {
                __rt::ToolSpec::of::<
                    ArgumentsOfSendEmail,
                >("send_email", "Sends an email.", __rt::Effects::Writes)
                    .external()
                    .irreversible("an email cannot be unsent")
                    .output_schema(
                        (&__rt::SchemaProbe::<<SendEmail as __rt::Tool>::Ok>::NEW)
                            .output_schema(),
                    )
            })
        }
        async fn call(
            &self,
            _: ArgumentsOfSendEmail,
            _: &__rt::ToolContext,
        ) -> __rt::Result<Self::Ok, Self::Err> {
            __rt::Ok(__rt::ToolOutput::pack(send_email().await))
        }
        fn on_error(
            &self,
            error: __rt::CallError<'_, Self::Err>,
            cx: &__rt::ErrorContext,
        ) -> __rt::Option<__rt::Plan> {
            use __rt::NoArms as _;
            (&__rt::ArmsProbe(self)).on_error(error, cx)
        }
        fn fixers(&self) -> __rt::Vec<__rt::Arc<dyn __rt::Fixer>> {
            use __rt::NoFixers as _;
            (&__rt::ArmsProbe(self)).fixers()
        }
        async fn in_doubt(
            &self,
            args: ArgumentsOfSendEmail,
            cx: &__rt::ToolContext,
        ) -> __rt::InDoubt<Self::Ok> {
            use __rt::SaysNothing as _;
            __rt::found_out(self.__in_doubt(args, cx).await, cx)
        }
    }
    #[automatically_derived]
    #[diagnostic::do_not_recommend]
    impl __rt::ToolName for SendEmail {
        const NAME: &'static str = "send_email";
    }
    #[automatically_derived]
    impl __rt::Fails for SendEmail {
        type With = __rt::Infallible;
    }
    #[automatically_derived]
    #[diagnostic::do_not_recommend]
    impl __rt::MayBeInDoubt for SendEmail {
        type Args = ArgumentsOfSendEmail;
        type Found = ();
    }
    impl SendEmail {
        #[doc(hidden)]
        fn __listed(self) -> __rt::SharedTool {
            use __rt::Refused as _;
            __rt::Listing(self).shared()
        }
    }
};
