/// Fetches.
pub async fn fetch() -> anyhow::Result<Page> {
    page().await
}
#[cfg(doc)]
/// Fetches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fetch;
#[cfg(not(doc))]
#[allow(trivial_bounds, unused_qualifications)]
/// Fetches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fetch
where
    Self: ::agents::__rt::GeneratedType;
#[allow(trivial_bounds, unused_qualifications)]
const _: () = {
    use ::agents::__rt;
    #[automatically_derived]
    #[diagnostic::do_not_recommend]
    impl __rt::GeneratedType for Fetch {}
    #[automatically_derived]
    #[::agents::__rt::async_trait]
    impl __rt::Agent for Fetch
    where
        (): __rt::AgentData,
        <anyhow::Result<Page> as __rt::Returns>::Ok: __rt::AgentData,
        <anyhow::Result<Page> as __rt::Returns>::Err: __rt::AgentFault,
    {
        type In = <() as __rt::AgentData>::Type;
        type Out = <<anyhow::Result<
            Page,
        > as __rt::Returns>::Ok as __rt::AgentData>::Type;
        fn name(&self) -> &str {
            "fetch"
        }
        fn description(&self) -> &str {
            "Gets pages."
        }
        async fn work(
            &self,
            cx: &__rt::RunContext,
            input: Self::In,
        ) -> __rt::Result<Self::Out, __rt::Error> {
            fetch()
                .await
                .map(__rt::AgentData::pack)
                .map_err(|error| {
                    use __rt::NoSource as _;
                    let source = (&__rt::SourceProbe(&error)).source();
                    __rt::AgentFault::failed(error, source)
                })
        }
    }
};
