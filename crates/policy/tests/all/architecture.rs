//! Checks that the state diagram in ARCHITECTURE.md matches the ledger's table. ARCHITECTURE.md is
//! outside the package, so the published package leaves this test out.

mod state_diagram {
    use tidegate_policy::slots::{Status, TRANSITIONS, Verb};

    /// Returns [`TRANSITIONS`] as a Mermaid state diagram. Verbs between the same two statuses
    /// share an arrow.
    fn diagram() -> String {
        let mut lines = Vec::from([String::from("stateDiagram-v2")]);
        for (at, (from, _, to)) in TRANSITIONS.iter().enumerate() {
            let same = |row: &&(Status, Verb, Status)| (row.0, row.2) == (*from, *to);
            if TRANSITIONS[..at].iter().any(|row| same(&row)) {
                continue;
            }
            let verbs = TRANSITIONS.iter().filter(same);
            let verbs: Vec<String> = verbs.map(|(_, verb, _)| format!("{verb}")).collect();
            lines.push(format!("    {from:?} --> {to:?}: {}", verbs.join(", ")));
        }
        lines.join("\n") + "\n"
    }

    #[test]
    fn is_printed_from_the_table() {
        let page = include_str!("../../../../ARCHITECTURE.md").replace('\r', "");
        let diagram = diagram();
        assert!(
            page.contains(&format!("```mermaid\n{diagram}```\n")),
            "replace the state diagram in ARCHITECTURE.md with:\n{diagram}"
        );
    }
}
