//! The rules, one file per group.

pub mod architecture;
pub mod door;
pub mod imports;
pub mod leftovers;
pub mod links;
pub mod mutants;
pub mod orderings;
pub mod size;
pub mod unsafety;
pub mod words;

#[cfg(test)]
mod small {
    //! Small repositories for the rules' own tests.

    use crate::house::Breach;
    use crate::house::repo::{Repo, Text};

    /// A repository of these files and no packages.
    pub fn repo(files: &[(&str, &str)]) -> Repo {
        let texts = files.iter().map(|(path, text)| Text {
            path: path.to_string(),
            text: text.to_string(),
        });
        Repo::new(texts.collect(), Vec::new())
    }

    /// Where `check` finds breaches in a repository of this one file, each as `rule:line`.
    pub fn found(check: fn(&Repo) -> Vec<Breach>, path: &str, text: &str) -> Vec<String> {
        let breaches = check(&repo(&[(path, text)]));
        breaches
            .iter()
            .map(|breach| format!("{}:{}", breach.rule, breach.line))
            .collect()
    }
}
