/// Repairs JSON by string surgery.
fn regex_fixer(broken: String) -> String {
    broken
}
#[cfg(doc)]
/// Repairs JSON by string surgery.
#[derive(Clone, Copy, Debug, Default)]
struct RegexFixer;
#[cfg(not(doc))]
#[allow(trivial_bounds, unused_qualifications)]
/// Repairs JSON by string surgery.
#[derive(Clone, Copy, Debug, Default)]
struct RegexFixer
where
    Self: ::agents::__rt::GeneratedType;
#[allow(trivial_bounds, unused_qualifications)]
const _: () = {
    use ::agents::__rt;
    #[automatically_derived]
    #[diagnostic::do_not_recommend]
    impl __rt::GeneratedType for RegexFixer {}
    #[automatically_derived]
    #[::agents::__rt::async_trait]
    impl __rt::Agent for RegexFixer
    where
        String: __rt::AgentData,
    {
        type In = <String as __rt::AgentData>::Type;
        type Out = <String as __rt::AgentData>::Type;
        fn name(&self) -> &str {
            "regex_fixer"
        }
        fn description(&self) -> &str {
            "Repairs JSON by string surgery."
        }
        fn profile(&self) -> __rt::Profile {
            __rt::Profile::new().input_name("broken")
        }
        async fn work(
            &self,
            cx: &__rt::RunContext,
            input: Self::In,
        ) -> __rt::Result<Self::Out, __rt::Error> {
            __rt::Ok(__rt::AgentData::pack(regex_fixer(__rt::AgentData::unpack(input))))
        }
    }
};
