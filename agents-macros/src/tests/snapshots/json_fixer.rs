#[cfg(doc)]
/// You are a JSON repair tool.
/// Return ONLY the fixed JSON.
#[derive(Clone, Copy, Debug, Default)]
struct JsonFixer;
#[cfg(not(doc))]
#[allow(trivial_bounds, unused_qualifications)]
/// You are a JSON repair tool.
/// Return ONLY the fixed JSON.
#[derive(Clone, Copy, Debug, Default)]
struct JsonFixer
where
    Self: ::agents::__rt::GeneratedType;
#[allow(trivial_bounds, unused_qualifications)]
const _: () = {
    use ::agents::__rt;
    #[automatically_derived]
    #[diagnostic::do_not_recommend]
    impl __rt::GeneratedType for JsonFixer {}
    #[automatically_derived]
    #[::agents::__rt::async_trait]
    impl __rt::Agent for JsonFixer
    where
        Repair: __rt::AgentData,
        String: __rt::ModelAnswer,
    {
        type In = <Repair as __rt::AgentData>::Type;
        type Out = <String as __rt::ModelAnswer>::Type;
        fn name(&self) -> &str {
            "json_fixer"
        }
        fn description(&self) -> &str {
            "You are a JSON repair tool.\nReturn ONLY the fixed JSON."
        }
        fn profile(&self) -> __rt::Profile {
            __rt::Agent::profile(&self.__agent())
        }
        async fn work(
            &self,
            cx: &__rt::RunContext,
            input: Self::In,
        ) -> __rt::Result<Self::Out, __rt::Error> {
            __rt::Agent::work(&self.__agent(), cx, input).await
        }
    }
    impl JsonFixer
    where
        Repair: __rt::AgentData,
        String: __rt::ModelAnswer,
    {
        #[doc(hidden)]
        fn __agent(
            &self,
        ) -> __rt::ModelAgent<
            '_,
            <Repair as __rt::AgentData>::Type,
            <String as __rt::ModelAnswer>::Type,
        > {
            use __rt::{Listed as _, SpreadSource as _, SpreadTools as _};
            __rt::AgentBuilder::new("json_fixer")
                .input_name("request")
                .prompt("You are a JSON repair tool.\nReturn ONLY the fixed JSON.")
                .model(ollama("qwen2.5:7b").temperature(0.0))
                .tools(
                    __rt::ToolSet::new()
                        .with({
                            let tool = ReadFile;
                            tool.__listed()
                        })
                        .with_all((more()).__spread()),
                )
                .budget(__rt::Budget::new().max_turns(1))
                .strict()
                .build()
        }
    }
};
