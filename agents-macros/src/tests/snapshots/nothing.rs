/// Does nothing.
async fn nothing() {}
#[cfg(doc)]
/// Does nothing.
#[derive(Clone, Copy, Debug, Default)]
struct Nothing;
#[cfg(not(doc))]
#[allow(trivial_bounds, unused_qualifications)]
/// Does nothing.
#[derive(Clone, Copy, Debug, Default)]
struct Nothing
where
    Self: ::agents::__rt::GeneratedType;
#[allow(trivial_bounds, unused_qualifications)]
const _: () = {
    use ::agents::__rt;
    #[automatically_derived]
    #[diagnostic::do_not_recommend]
    impl __rt::GeneratedType for Nothing {}
    #[derive(::agents::__rt::serde::Deserialize, ::agents::__rt::schemars::JsonSchema)]
    #[serde(crate = "::agents::__rt::serde", deny_unknown_fields)]
    #[schemars(crate = "::agents::__rt::schemars")]
    pub struct ArgumentsOfNothing {}
    #[automatically_derived]
    impl __rt::Tool for Nothing
    where
        (): __rt::ToolOutput,
    {
        type Args = ArgumentsOfNothing;
        type Ok = <() as __rt::ToolOutput>::Type;
        type Err = __rt::Infallible;
        fn spec(&self) -> &__rt::ToolSpec {
            use __rt::NoSchema as _;
            static SPEC: __rt::OnceLock<__rt::ToolSpec> = __rt::OnceLock::new();
            SPEC.get_or_init(|| {
                __rt::ToolSpec::of::<
                    ArgumentsOfNothing,
                >("nothing", "Does nothing.", __rt::Effects::None)
                    .output_schema(
                        (&__rt::SchemaProbe::<<Nothing as __rt::Tool>::Ok>::NEW)
                            .output_schema(),
                    )
            })
        }
        async fn call(
            &self,
            _: ArgumentsOfNothing,
            _: &__rt::ToolContext,
        ) -> __rt::Result<Self::Ok, Self::Err> {
            __rt::Ok(__rt::ToolOutput::pack(nothing().await))
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
    }
    #[automatically_derived]
    #[diagnostic::do_not_recommend]
    impl __rt::ToolName for Nothing {
        const NAME: &'static str = "nothing";
    }
    #[automatically_derived]
    impl __rt::Fails for Nothing {
        type With = __rt::Infallible;
    }
    #[automatically_derived]
    impl __rt::RetrySafe for Nothing {}
    impl Nothing {
        #[doc(hidden)]
        fn __listed(self) -> __rt::SharedTool {
            use __rt::Refused as _;
            __rt::Listing(self).shared()
        }
    }
};
