//! A Rust source with what the rules ask about it: its functions, the comments above a line, the lines of tests.
//!
//! All of it is found in the order of the tokens, never in a syntax tree, so that it holds inside macros too. It knows
//! nothing of types or of what a name refers to.

use std::ops::RangeInclusive;

use super::lex::{self, Comment, Token, is_word};

/// A source file with what the rules ask about it.
pub struct Source {
    /// Its path from the root, with `/` between the parts.
    pub path: String,
    /// Its tokens in order, the brackets among them.
    pub tokens: Vec<Token>,
    /// Its comments, one per line, in order.
    pub comments: Vec<Comment>,
    /// Its functions with a body.
    pub functions: Vec<Item>,
    /// Its implementations, as items named `impl`.
    pub impls: Vec<Item>,
    /// The lines that are compiled for tests only.
    pub test_lines: Vec<RangeInclusive<usize>>,
}

/// An item with a body in braces.
pub struct Item {
    /// Its name.
    pub name: String,
    /// The line of its keyword.
    pub first: usize,
    /// The line of its closing brace.
    pub last: usize,
}

impl Item {
    /// Whether `line` is one of its lines.
    pub fn holds(&self, line: usize) -> bool {
        (self.first..=self.last).contains(&line)
    }
}

impl Source {
    /// Cuts up `text`; the error says where it is not Rust.
    pub fn read(path: &str, text: &str) -> Result<Source, (usize, String)> {
        let (tokens, comments) = lex::cut(text)?;
        let functions = items(&tokens, |at| {
            let name = tokens.get(at + 1)?;
            (tokens[at].text == "fn" && is_word(&name.text)).then_some(name)
        });
        let impls = items(&tokens, |at| {
            (tokens[at].text == "impl" && begins_item(&tokens, at)).then_some(&tokens[at])
        });
        let test_lines = test_lines(&tokens);
        Ok(Source {
            path: path.to_string(),
            tokens,
            comments,
            functions,
            impls,
            test_lines,
        })
    }

    /// Whether the tokens from `index` on are `words`.
    pub fn reads(&self, index: usize, words: &[&str]) -> bool {
        let found = self.tokens.get(index..index + words.len());
        found.is_some_and(|found| {
            found
                .iter()
                .map(|token| token.text.as_str())
                .eq(words.iter().copied())
        })
    }

    /// Whether `line` is compiled for tests only.
    pub fn in_test(&self, line: usize) -> bool {
        self.test_lines.iter().any(|lines| lines.contains(&line))
    }

    /// The innermost function around `line`.
    pub fn function_at(&self, line: usize) -> Option<&Item> {
        let around = self.functions.iter().filter(|item| item.holds(line));
        around.max_by_key(|function| function.first)
    }

    /// The comments that end in `line` or at most `reach` lines above it, each with the lines that precede it without
    /// a break, but none from before `floor`.
    pub fn comment_near(&self, line: usize, reach: usize, floor: usize) -> String {
        let from = line.saturating_sub(reach).max(floor);
        let mut lines: Vec<&Comment> = Vec::new();
        for comment in self
            .comments
            .iter()
            .rev()
            .skip_while(|comment| comment.line > line)
        {
            let joined = lines
                .last()
                .is_some_and(|below| below.line == comment.line + 1);
            if comment.line < from && !(joined && comment.line >= floor) {
                break;
            }
            lines.push(comment);
        }
        lines
            .iter()
            .rev()
            .map(|comment| comment.text.as_str())
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// The first line of the comments that stand directly above `line`, or `line` itself.
    pub fn head(&self, line: usize) -> usize {
        let mut head = line;
        for comment in self
            .comments
            .iter()
            .rev()
            .skip_while(|comment| comment.line >= line)
        {
            if comment.line + 1 != head {
                break;
            }
            head = comment.line;
        }
        head
    }
}

/// The items with a body whose keyword stands where `named` gives the token of their name.
fn items<'a>(tokens: &'a [Token], named: impl Fn(usize) -> Option<&'a Token>) -> Vec<Item> {
    let item = |at: usize| {
        let name = named(at)?.text.clone();
        let end = item_end(tokens, at).filter(|end| tokens[*end].text == "}")?;
        Some(Item {
            name,
            first: tokens[at].line,
            last: tokens[end].line,
        })
    };
    (0..tokens.len()).filter_map(item).collect()
}

/// Whether an item, not a type, begins at `at`: `impl` is a keyword of both.
fn begins_item(tokens: &[Token], at: usize) -> bool {
    let before = at
        .checked_sub(1)
        .map_or("", |before| tokens[before].text.as_str());
    ["", "}", "{", ";", "]", "unsafe"].contains(&before)
}

/// The index of the brace or semicolon that ends the item with a token at `index`.
fn item_end(tokens: &[Token], mut index: usize) -> Option<usize> {
    loop {
        let token = tokens.get(index)?;
        match token.text.as_str() {
            "{" => return Some(token.close),
            ";" => return Some(index),
            _ => index = token.close + 1,
        }
    }
}

fn test_lines(tokens: &[Token]) -> Vec<RangeInclusive<usize>> {
    let mut found = Vec::new();
    for index in 0..tokens.len() {
        let inner = usize::from(tokens.get(index + 1).is_some_and(|token| token.text == "!"));
        let open = index + 1 + inner;
        if tokens[index].text != "#" || tokens.get(open).is_none_or(|token| token.text != "[") {
            continue;
        }
        let close = tokens[open].close;
        if !marks_test(&tokens[open + 1..close]) {
            continue;
        }
        if inner == 1 {
            found.push(1..=usize::MAX);
        } else if let Some(end) = item_end(tokens, close + 1) {
            found.push(tokens[index].line..=tokens[end].line);
        }
    }
    found
}

/// Whether an attribute's inside limits its item to tests: `test`, `cfg(test)` or `cfg(all(.., test, ..))`.
fn marks_test(inside: &[Token]) -> bool {
    let words: Vec<&str> = inside.iter().map(|token| token.text.as_str()).collect();
    match words.as_slice() {
        ["test"] | ["cfg", "(", "test", ")"] => true,
        ["cfg", "(", "all", "(", rest @ ..] => {
            let mut depth = 0;
            rest.iter().any(|word| {
                depth += i32::from(*word == "(") - i32::from(*word == ")");
                depth == 0 && *word == "test"
            })
        }
        _ => false,
    }
}
