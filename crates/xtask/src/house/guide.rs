//! The guide shows its example programs in full, so that readers can copy them. A program on a page
//! must be identical to the example.
//!
//! The documentation tests of `tidegate` and `tidegate-fan` run or compile these programs.

use super::{Repo, violation};

/// The pages of the guide, and the crates and examples that they show.
const SHOWN: [(&str, &str, &str); 8] = [
    ("word-count", "tidegate", "wordcount"),
    ("stream", "tidegate", "checksums"),
    ("task-graph", "tidegate", "task_graph"),
    ("server", "tidegate", "server"),
    ("search", "tidegate", "search"),
    ("batch-memory", "tidegate", "batch_memory"),
    ("rare-orders", "tidegate", "rare_orders"),
    ("many-machines", "fan", "primes"),
];

/// Finds pages that do not show their example unchanged.
pub fn check(repo: &Repo) -> Vec<String> {
    let differs = SHOWN.iter().filter_map(|(page, name, example)| {
        let page = format!("docs/guide/{page}.md");
        let example = format!("crates/{name}/examples/{example}.rs");
        let text = repo.text(&page)?;
        let is_shown = repo
            .text(&example)
            .is_some_and(|program| shows(text, program));
        let advice = format!("show the program in {example}, without its first paragraph");
        (!is_shown).then(|| violation(&page, 1, advice))
    });
    differs.collect()
}

/// Whether the page shows the program without its module documentation. A program that needs
/// arguments is not run.
fn shows(page: &str, program: &str) -> bool {
    let body = program.split_once("\n\n").map_or("", |(_, body)| body);
    ["rust", "rust,no_run"]
        .iter()
        .any(|kind| page.contains(&format!("```{kind}\n{body}```\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_shows_its_whole_example() {
        let page = |body: &str| format!("# Server\n\n```rust\n{body}```\n");
        let found = |program: &str, body: &str| {
            let example = ("crates/tidegate/examples/server.rs", program);
            let page = page(body);
            check(&Repo::of(&[example, ("docs/guide/server.md", &page)])).len()
        };
        let program = "//! A server.\n\nfn main() {}\n";
        assert_eq!(found(program, "fn main() {}\n"), 0);
        assert_eq!(found(program, "fn main() { serve() }\n"), 1);
        assert_eq!(found(program, ""), 1);
    }
}
