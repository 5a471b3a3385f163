//! A Rust file as tokens: its code without comments and tests.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The beginnings of items that are only for tests.
const TESTS: [&str; 3] = ["# [ test ]", "# [ cfg ( test )", "# [ cfg ( all ( test ,"];

pub struct Source {
    pub path: String,
    pub text: String,
    /// The tokens that do not belong to a test.
    pub tokens: Vec<Token>,
    /// The path prefixes of the modules that the file declares only for tests.
    pub tests: Vec<String>,
}

/// A word, a literal, `::`, a bracket or another sign.
pub struct Token {
    pub text: String,
    /// The lines in which the token begins and ends, counted from 1.
    pub lines: [usize; 2],
}

impl Source {
    pub fn new(path: &str, text: &str) -> Source {
        let folder = path.trim_end_matches(".rs");
        let roots = ["/lib", "/main", "/mod"].iter();
        let folder = roots.fold(folder, |folder, root| folder.trim_end_matches(root));
        // The lexer would make attributes out of documentation.
        let lines = text
            .lines()
            .map(|line| if is_comment(line) { "" } else { line });
        let stream = lines.collect::<Vec<_>>().join("\n").parse::<TokenStream>();
        let (mut tokens, mut tests) = (Vec::new(), Vec::new());
        flatten(stream.unwrap_or_default(), &mut tokens);
        let mut is_test = vec![false; tokens.len()];
        for at in 0..tokens.len() {
            let item = &tokens[at..];
            let begins = |start: &&str| start.split(' ').zip(item).all(|it| it.0 == it.1.text);
            if TESTS.iter().any(begins) {
                let len = item_len(item);
                is_test[at..at + len].fill(true);
                // The last tokens of a test's declaration are its module's name and a semicolon.
                let name = &item[len.saturating_sub(2)].text;
                tests.extend([format!("{folder}/{name}.rs"), format!("{folder}/{name}/")]);
            }
        }
        let mut is_test = is_test.into_iter();
        tokens.retain(|_| is_test.next() == Some(false));
        Source {
            path: path.to_string(),
            text: text.to_string(),
            tokens,
            tests,
        }
    }
}

pub fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with("//")
}

fn flatten(stream: TokenStream, found: &mut Vec<Token>) {
    for tree in stream {
        let [begin, end] = [tree.span().start().line, tree.span().end().line];
        let token = |text: &str, lines| Token {
            text: text.into(),
            lines,
        };
        if let TokenTree::Group(group) = tree {
            let [open, close] = match group.delimiter() {
                Delimiter::Brace => ["{", "}"],
                Delimiter::Bracket => ["[", "]"],
                _ => ["(", ")"],
            };
            found.push(token(open, [begin; 2]));
            flatten(group.stream(), found);
            found.push(token(close, [end; 2]));
        } else {
            match (found.last_mut(), tree.to_string().as_str()) {
                (Some(last), ":") if last.text == ":" => last.text.push(':'),
                (_, text) => found.push(token(text, [begin, end])),
            }
        }
    }
}

/// Returns the number of tokens of an item, which ends with a block or a semicolon, or where the
/// block around it ends.
fn item_len(tokens: &[Token]) -> usize {
    let mut depth = 0;
    let end = tokens.iter().position(|token| {
        depth += match token.text.as_str() {
            "{" | "[" | "(" => 1,
            "}" | "]" | ")" => -1,
            _ => 0,
        };
        depth < 0 || depth == 0 && [";", "}"].contains(&token.text.as_str())
    });
    end.map_or(tokens.len(), |end| end + usize::from(depth == 0))
}
