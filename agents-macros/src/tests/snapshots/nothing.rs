/// Nothing.
async fn nothing() {}
/// Nothing.
#[derive(Clone, Copy, Debug, Default)]
struct Nothing;
const _: () = {
    use ::agents::__rt;
    #[derive(__rt::serde::Deserialize, __rt::schemars::JsonSchema)]
    #[serde(crate = "::agents::__rt::serde", deny_unknown_fields)]
    #[schemars(crate = "::agents::__rt::schemars")]
    pub struct __Args {}
    #[automatically_derived]
    impl __rt::Tool for Nothing {
        type Args = __Args;
        type Ok = <() as __rt::ToolOutput>::Type;
        type Err = __rt::Infallible;
        fn spec(&self) -> &__rt::ToolSpec {
            #[allow(unused_imports)]
            use __rt::NoSchema as _;
            static SPEC: __rt::LazyLock<__rt::ToolSpec> = __rt::LazyLock::new(|| {
                __rt::ToolSpec::of::<__Args>("nothing", "Nothing.", __rt::Effects::None)
                    .output_schema(
                        (&__rt::SchemaProbe::<<() as __rt::ToolOutput>::Type>::NEW)
                            .output_schema(),
                    )
            });
            &SPEC
        }
        async fn call(
            &self,
            _: __Args,
            _: &__rt::ToolContext,
        ) -> __rt::Result<Self::Ok, Self::Err> {
            __rt::Ok(nothing().await)
        }
    }
};
