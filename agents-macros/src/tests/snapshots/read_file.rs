/// Read a file's contents.
pub async fn read_file(path: PathBuf, lines: Option<u32>) -> io::Result<String> {
    body(path, lines).await
}
#[cfg(doc)]
/// Read a file's contents.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadFile;
#[cfg(not(doc))]
#[allow(trivial_bounds, unused_qualifications)]
/// Read a file's contents.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadFile
where
    Self: ::agents::__rt::GeneratedType;
#[allow(trivial_bounds, unused_qualifications)]
const _: () = {
    use ::agents::__rt;
    #[automatically_derived]
    #[diagnostic::do_not_recommend]
    impl __rt::GeneratedType for ReadFile {}
    #[derive(::agents::__rt::serde::Deserialize, ::agents::__rt::schemars::JsonSchema)]
    #[serde(crate = "::agents::__rt::serde", deny_unknown_fields)]
    #[schemars(crate = "::agents::__rt::schemars")]
    pub struct ArgumentsOfReadFile
    where
        PathBuf: __rt::Argument,
        Option<u32>: __rt::Argument,
    {
        /// Path, relative to the workspace.
        path: <PathBuf as __rt::Argument>::Type,
        /// Number of lines at most.
        #[serde(default)]
        lines: <Option<u32> as __rt::Argument>::Type,
    }
    #[automatically_derived]
    impl __rt::Tool for ReadFile
    where
        PathBuf: __rt::Argument,
        Option<u32>: __rt::Argument,
        <io::Result<String> as __rt::Returns>::Ok: __rt::ToolOutput,
        <io::Result<String> as __rt::Returns>::Err: __rt::ToolFault,
    {
        type Args = ArgumentsOfReadFile;
        type Ok = <<io::Result<String> as __rt::Returns>::Ok as __rt::ToolOutput>::Type;
        type Err = <<io::Result<String> as __rt::Returns>::Err as __rt::ToolFault>::Type;
        fn spec(&self) -> &__rt::ToolSpec {
            use __rt::NoSchema as _;
            static SPEC: __rt::OnceLock<__rt::ToolSpec> = __rt::OnceLock::new();
            SPEC.get_or_init(|| {
                __rt::ToolSpec::of::<
                    ArgumentsOfReadFile,
                >("read_file", "Read a file's contents.", __rt::Effects::Reads)
                    .timeout(Duration::from_secs(2))
                    .output_schema(
                        (&__rt::SchemaProbe::<<ReadFile as __rt::Tool>::Ok>::NEW)
                            .output_schema(),
                    )
            })
        }
        async fn call(
            &self,
            args: ArgumentsOfReadFile,
            _: &__rt::ToolContext,
        ) -> __rt::Result<Self::Ok, Self::Err> {
            read_file(
                    __rt::Argument::unpack(args.path),
                    __rt::Argument::unpack(args.lines),
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
                    __rt::unpacked::<<io::Result<String> as __rt::Returns>::Err>(error),
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
    }
    #[automatically_derived]
    #[diagnostic::do_not_recommend]
    impl __rt::ToolName for ReadFile {
        const NAME: &'static str = "read_file";
    }
    #[automatically_derived]
    impl __rt::Fails for ReadFile {
        type With = <io::Result<String> as __rt::Returns>::Err;
    }
    #[automatically_derived]
    impl __rt::RetrySafe for ReadFile {}
    #[automatically_derived]
    impl __rt::Fallible for ReadFile {}
    impl ReadFile {
        #[doc(hidden)]
        pub fn __listed(self) -> __rt::SharedTool {
            use __rt::Refused as _;
            __rt::Listing(self).shared()
        }
    }
};
