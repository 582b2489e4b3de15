impl Triage {}
#[allow(trivial_bounds, unused_qualifications)]
const _: () = {
    use ::agents::__rt;
    #[automatically_derived]
    #[::agents::__rt::async_trait]
    impl __rt::Agent for Triage
    where
        String: __rt::AgentData,
        String: __rt::ModelAnswer,
    {
        type In = <String as __rt::AgentData>::Type;
        type Out = <String as __rt::ModelAnswer>::Type;
        fn name(&self) -> &str {
            "triage"
        }
        fn description(&self) -> &str {
            "You sort issues."
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
    impl Triage
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
            __rt::AgentBuilder::new("triage")
                .input_name("request")
                .prompt("You sort issues.")
                .tools(__rt::ToolSet::new().with_all((self.github()).__spread()))
                .policy("github_*", ToolPolicy::new().confirm())
                .on_error_of_named(
                    "github_*",
                    move |
                        error: __rt::CallError<'_, __rt::AnyError>,
                        cx: &__rt::ErrorContext|
                    {
                        use __rt::vocabulary::*;
                        #[deny(unreachable_patterns)]
                        match error {
                            __rt::CallError::Execution(_) => {
                                __rt::IntoDecision::<
                                    __rt::kinds::Execution,
                                >::into_plan(feedback("try later"))
                            }
                            #[allow(
                                unreachable_patterns,
                                reason = "arms may leave nothing over"
                            )]
                            _ => __rt::None,
                        }
                    },
                )
                .skill(
                    __rt::Skill::<
                        '_,
                        <String as __rt::AgentData>::Type,
                        _,
                    >::model("sort", "Sorts issues."),
                )
                .build()
        }
    }
};
