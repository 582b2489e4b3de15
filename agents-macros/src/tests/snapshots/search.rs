/// Search the shop.
#[cfg(feature = "shop")]
pub(crate) async fn search(
    cx: &ToolContext,
    words: Vec<String>,
    pool: PgPool,
    root: &PathBuf,
) -> usize {
    0
}
#[cfg(doc)]
/// Search the shop.
#[cfg(feature = "shop")]
pub(crate) struct Search {
    /// Handed to [`search`] with every call.
    pub(crate) pool: PgPool,
    /// The root.
    pub(crate) root: PathBuf,
}
#[cfg(not(doc))]
#[allow(trivial_bounds, unused_qualifications)]
/// Search the shop.
#[cfg(feature = "shop")]
pub(crate) struct Search
where
    Self: crate::renamed::__rt::GeneratedType,
{
    /// Handed to [`search`] with every call.
    pub(crate) pool: PgPool,
    /// The root.
    pub(crate) root: PathBuf,
}
#[doc(hidden)]
#[cfg(feature = "shop")]
#[allow(deprecated, non_upper_case_globals)]
pub(crate) const Search: crate::renamed::__rt::Uninjected<Search> = crate::renamed::__rt::Uninjected::NEW;
#[cfg(feature = "shop")]
#[allow(trivial_bounds, unused_qualifications)]
const _: () = {
    use crate::renamed::__rt;
    #[automatically_derived]
    #[diagnostic::do_not_recommend]
    impl __rt::GeneratedType for Search {}
    #[automatically_derived]
    impl __rt::Clone for Search
    where
        PgPool: __rt::Injected,
        PathBuf: __rt::Injected,
    {
        fn clone(&self) -> Self {
            Search {
                pool: __rt::Injected::copied(&self.pool),
                root: __rt::Injected::copied(&self.root),
            }
        }
    }
    #[derive(
        crate::renamed::__rt::serde::Deserialize,
        crate::renamed::__rt::schemars::JsonSchema
    )]
    #[serde(crate = "crate::renamed::__rt::serde", deny_unknown_fields)]
    #[schemars(crate = "crate::renamed::__rt::schemars")]
    pub struct ArgumentsOfSearch
    where
        Vec<String>: __rt::Argument,
    {
        /// Search terms.
        words: <Vec<String> as __rt::Argument>::Type,
    }
    #[automatically_derived]
    impl __rt::Tool for Search
    where
        Vec<String>: __rt::Argument,
        PgPool: __rt::Injected,
        PathBuf: __rt::Injected,
        usize: __rt::ToolOutput,
    {
        type Args = ArgumentsOfSearch;
        type Ok = <usize as __rt::ToolOutput>::Type;
        type Err = __rt::Infallible;
        fn spec(&self) -> &__rt::ToolSpec {
            use __rt::NoSchema as _;
            static SPEC: __rt::OnceLock<__rt::ToolSpec> = __rt::OnceLock::new();
            SPEC.get_or_init(|| {
                __rt::ToolSpec::of::<
                    ArgumentsOfSearch,
                >("search", "Search the shop.", __rt::Effects::Reads)
                    .external()
                    .cache(__rt::Cache::Ttl(minute()))
                    .approval(__rt::NeedsApproval::When)
                    .example(
                        crate::renamed::__rt::serde_json::json!({ "words" : ["a"] }),
                    )
                    .output_schema(
                        (&__rt::SchemaProbe::<<Search as __rt::Tool>::Ok>::NEW)
                            .output_schema(),
                    )
            })
        }
        async fn call(
            &self,
            args: ArgumentsOfSearch,
            cx: &__rt::ToolContext,
        ) -> __rt::Result<Self::Ok, Self::Err> {
            __rt::Ok(
                __rt::ToolOutput::pack(
                    search(
                            cx,
                            __rt::Argument::unpack(args.words),
                            __rt::Injected::copied(&self.pool),
                            &self.root,
                        )
                        .await,
                ),
            )
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
        fn hash_instance(&self, state: &mut dyn __rt::Hasher) {
            use __rt::NotHashed as _;
            (&__rt::HashProbe(&self.pool)).feed(state);
            (&__rt::HashProbe(&self.root)).feed(state);
        }
        fn needs_approval(
            &self,
            args: &ArgumentsOfSearch,
            cx: &__rt::ToolContext,
        ) -> bool {
            __rt::ask(args, cx, |args, cx| args.words.len() > 3)
        }
    }
    #[automatically_derived]
    #[diagnostic::do_not_recommend]
    impl __rt::ToolName for Search {
        const NAME: &'static str = "search";
    }
    #[automatically_derived]
    impl __rt::Fails for Search {
        type With = __rt::Infallible;
    }
    #[automatically_derived]
    impl __rt::RetrySafe for Search {}
    impl Search {
        #[doc(hidden)]
        pub(crate) fn __listed(self) -> __rt::SharedTool {
            use __rt::Refused as _;
            __rt::Listing(self).shared()
        }
    }
};
