impl Clerk {
    /// House style.
    fn style_guide(&self) -> &'static str {
        STYLE
    }
}
#[allow(trivial_bounds, unused_qualifications)]
const _: () = {
    use ::agents::__rt;
    #[automatically_derived]
    #[::agents::__rt::async_trait]
    impl __rt::Agent for Clerk
    where
        String: __rt::AgentData,
        String: __rt::ModelAnswer,
    {
        type In = <String as __rt::AgentData>::Type;
        type Out = <String as __rt::ModelAnswer>::Type;
        fn name(&self) -> &str {
            "clerk"
        }
        fn description(&self) -> &str {
            "You are a clerk."
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
    impl Clerk
    where
        String: __rt::AgentData,
        String: __rt::ModelAnswer,
    {
        #[doc(hidden)]
        fn __agent(
            &self,
        ) -> __rt::ModelAgent<
            '_,
            <String as __rt::AgentData>::Type,
            <String as __rt::ModelAnswer>::Type,
        > {
            use __rt::{Listed as _, SpreadSource as _, SpreadTools as _};
            __rt::AgentBuilder::new("clerk")
                .input_name("request")
                .prompt("You are a clerk.")
                .tools(
                    __rt::ToolSet::new()
                        .with({
                            let tool = ReadFile;
                            tool.__listed()
                        })
                        .with({
                            let tool = Add;
                            tool.__listed()
                        })
                        .with_all((github()).__spread()),
                )
                .memory(self.bank.clone())
                .knowledge("style_guide", "House style.", || self.style_guide())
                .skill(
                    __rt::Skill::<
                        '_,
                        <String as __rt::AgentData>::Type,
                        _,
                    >::model("read_notes", "Reads the notes.")
                        .tools::<
                            &str,
                        >([<ReadFile as __rt::ToolName>::NAME, "github_get_*"])
                        .with_memory(),
                )
                .skill(
                    __rt::Skill::<
                        '_,
                        <String as __rt::AgentData>::Type,
                        _,
                    >::model("small_talk", "Chats.")
                        .when(|r: &String| r.len() < 9)
                        .tools::<&str>([]),
                )
                .build()
        }
    }
};
