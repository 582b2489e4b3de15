/// Repairs JSON by string surgery.
fn regex_fixer(broken: String) -> String {
    broken
}
/// Repairs JSON by string surgery.
#[derive(Clone, Copy, Debug, Default)]
struct RegexFixer;
const _: () = {
    use ::agents::__rt;
    #[automatically_derived]
    #[allow(unused_variables)]
    #[__rt::async_trait]
    impl __rt::Agent for RegexFixer {
        type In = String;
        type Out = String;
        fn name(&self) -> &str {
            "regex_fixer"
        }
        fn description(&self) -> &str {
            "Repairs JSON by string surgery."
        }
        async fn work(
            &self,
            cx: &__rt::Cx,
            input: Self::In,
        ) -> __rt::Result<Self::Out, __rt::Error> {
            __rt::Ok(regex_fixer(input))
        }
    }
    const _: () = {
        #[allow(unused_imports)]
        use __rt::NotResult as _;
        ::core::assert!(
            ! __rt::ResultProbe:: < String > ::IS_RESULT,
            "this type is a `Result` under another name; write `Result<..>` out, so that an `Err` is a failure of the tool and not an answer"
        );
    };
};
