fn main() {
    let made = ::agents::__rt::Member::new(Project::new(db))
        .budget(tokens(500_000).time(minutes(30)))
        .delegate(
            ::agents::__rt::Member::new(SpecMaster)
                .grant::<CreateSpec>()
                .grant::<tools::SearchSpec>()
                .delegate(::agents::__rt::Member::new(UmlDrawer).grant_nothing()),
        )
        .delegate(
            ::agents::__rt::Member::new(CodeMaster)
                .grant::<WriteFile>()
                .grant::<Compile>()
                .grant_named("mcp_*")
                .confirm::<Deploy>()
                .confirm_named("mcp_delete")
                .delegate(
                    ::agents::__rt::Member::new(Coder { root }).grant::<WriteFile>(),
                )
                .delegate(::agents::__rt::Member::new(tester)),
        )
        .build();
}
