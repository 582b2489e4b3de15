/// Manages files.
impl FileManager {
    const LIMIT: usize = 3;
    /// Answers without a model.
    fn root(&self, _request: String) -> io::Result<Summary> {
        todo()
    }
    fn prompt(&self) -> String {
        body
    }
}
#[allow(trivial_bounds, unused_qualifications)]
const _: () = {
    use ::agents::__rt;
    #[automatically_derived]
    #[::agents::__rt::async_trait]
    impl __rt::Agent for FileManager
    where
        String: __rt::AgentData,
        Summary: __rt::ModelAnswer,
        <io::Result<Summary> as __rt::Returns>::Err: __rt::AgentFault,
    {
        type In = <String as __rt::AgentData>::Type;
        type Out = <Summary as __rt::ModelAnswer>::Type;
        fn name(&self) -> &str {
            "file_manager"
        }
        fn description(&self) -> &str {
            "Manages files."
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
    impl FileManager
    where
        String: __rt::AgentData,
        Summary: __rt::ModelAnswer,
        <io::Result<Summary> as __rt::Returns>::Err: __rt::AgentFault,
    {
        #[doc(hidden)]
        fn __agent(
            &self,
        ) -> __rt::ModelAgent<
            '_,
            <String as __rt::AgentData>::Type,
            <Summary as __rt::ModelAnswer>::Type,
        > {
            use __rt::{Listed as _, SpreadSource as _, SpreadTools as _};
            __rt::AgentBuilder::new("file_manager")
                .input_name("request")
                .prompt(self.prompt())
                .tools(
                    __rt::ToolSet::new()
                        .with({
                            let tool = WriteFile {
                                root: self.root.clone(),
                            };
                            tool.__listed()
                        }),
                )
                .skill(
                    __rt::Skill::<
                        '_,
                        <String as __rt::AgentData>::Type,
                        _,
                    >::model("manage_files", "File management operations."),
                )
                .skill(
                    __rt::Skill::native(
                            "root",
                            "Answers without a model.",
                            move |input: <String as __rt::AgentData>::Type| async move {
                                self.root(__rt::AgentData::unpack(input))
                                    .map(__rt::ModelAnswer::pack)
                                    .map_err(|error| {
                                        use __rt::NoSource as _;
                                        let source = (&__rt::SourceProbe(&error)).source();
                                        __rt::AgentFault::failed(error, source)
                                    })
                            },
                        )
                        .when(|r: &String| r.contains("where")),
                )
                .build()
        }
    }
    const _: () = {
        #[allow(unused_imports, reason = "a `Result` says so itself")]
        use __rt::NotResult as _;
        ::core::assert!(
            ! __rt::ResultProbe:: < Summary > ::IS_RESULT,
            "this type is a `Result` under another name; write `Result<..>` out, so that an `Err` is a failure of the tool and not an answer"
        );
    };
};
