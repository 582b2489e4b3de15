fn main() {
    let made = ::agents::__rt::Member::new(Project::new(db))
        .budget(tokens(500_000).time(minutes(30)))
        .and_below(
            ::agents::__rt::Member::below(SpecMaster)
                .grant::<CreateSpec>()
                .grant::<tools::SearchSpec>()
                .and_below(::agents::__rt::Member::below(UmlDrawer).grant_nothing()),
        )
        .and_below(
            ::agents::__rt::Member::below(CodeMaster)
                .grant::<WriteFile>()
                .grant::<Compile>()
                .grant_named("mcp_*")
                .confirm::<Deploy>()
                .confirm_named("mcp_delete")
                .and_below(
                    ::agents::__rt::Member::below(Coder { root })
                        .grant::<WriteFile>()
                        .background(),
                )
                .and_below(
                    ::agents::__rt::Member::below(tester).background_until_answer(),
                ),
        )
        .build();
}
