//! Checks that the state diagram in ARCHITECTURE.md matches the ledger's table. ARCHITECTURE.md is
//! outside the package, so the published package leaves this test out.

mod state_diagram {
    #[test]
    fn is_printed_from_the_table() {
        let page = include_str!("../../../ARCHITECTURE.md").replace('\r', "");
        let diagram = tidegate_policy::slots::diagram();
        assert!(
            page.contains(&format!("```mermaid\n{diagram}```\n")),
            "replace the state diagram in ARCHITECTURE.md with:\n{diagram}"
        );
    }
}
