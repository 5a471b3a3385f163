//! Rust text cut into tokens and comments.
//!
//! The lexer is the compiler's grammar as proc-macro2 has it; it keeps doc comments as attributes and drops the others, so
//! comments are found here in the text that lies between the tokens.

use std::str::FromStr;

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};

/// A word, a literal, a sign or a bracket.
pub struct Token {
    /// Its text in the source.
    pub text: String,
    /// The line it begins in, counted from 1.
    pub line: usize,
    /// For an opening bracket the index of the one that closes it, for all others its own index.
    pub close: usize,
}

/// One line of a comment.
pub struct Comment {
    /// The line, counted from 1.
    pub line: usize,
    /// What stands in it, with its slashes.
    pub text: String,
}

/// Cuts `text`; the error is the line where it is not Rust, and why.
pub fn cut(text: &str) -> Result<(Vec<Token>, Vec<Comment>), (usize, String)> {
    let stream = TokenStream::from_str(text)
        .map_err(|error| (error.span().start().line, error.to_string()))?;
    let mut cutter = Cutter {
        text,
        at: 0,
        line: 1,
        doc_until: 0,
        tokens: Vec::new(),
        comments: Vec::new(),
    };
    cutter.stream(stream);
    cutter.gap(text.len());
    Ok((cutter.tokens, cutter.comments))
}

/// Whether a token is a name or keyword.
pub fn is_word(text: &str) -> bool {
    text.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// Walks through a token stream and the text between its tokens.
struct Cutter<'a> {
    text: &'a str,
    /// Everything before this byte has been looked at.
    at: usize,
    /// The line of `at`.
    line: usize,
    /// Tokens that begin before this byte were made from a doc comment.
    doc_until: usize,
    tokens: Vec<Token>,
    comments: Vec<Comment>,
}

impl Cutter<'_> {
    fn stream(&mut self, stream: TokenStream) {
        for tree in stream {
            let range = tree.span().byte_range();
            if range.start < self.doc_until {
                continue;
            }
            let text = &self.text[range.clone()];
            if text.starts_with("//") || text.starts_with("/*") {
                self.doc_until = range.end;
                self.gap(range.end);
                continue;
            }
            match tree {
                TokenTree::Group(group) if group.delimiter() != Delimiter::None => {
                    let open = self.token(group.span_open());
                    self.stream(group.stream());
                    self.tokens[open].close = self.token(group.span_close());
                }
                TokenTree::Group(group) => self.stream(group.stream()),
                other => {
                    self.token(other.span());
                }
            }
        }
    }

    /// Keeps a token and returns its index.
    fn token(&mut self, span: Span) -> usize {
        let range = span.byte_range();
        self.gap(range.start);
        let index = self.tokens.len();
        let text = self.text[range.clone()].to_string();
        let lines = text.matches('\n').count();
        self.tokens.push(Token {
            text,
            line: self.line,
            close: index,
        });
        self.line += lines;
        self.at = range.end;
        index
    }

    /// Keeps the comments in the text up to byte `end`, which holds no tokens.
    fn gap(&mut self, end: usize) {
        for (number, line) in self.text[self.at..end].split('\n').enumerate() {
            self.line += usize::from(number > 0);
            let line = line.trim();
            if !line.is_empty() {
                self.comments.push(Comment {
                    line: self.line,
                    text: line.to_string(),
                });
            }
        }
        self.at = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comments(text: &str) -> Vec<(usize, String)> {
        let (_, comments) = cut(text).unwrap();
        comments
            .into_iter()
            .map(|comment| (comment.line, comment.text))
            .collect()
    }

    fn lines(text: &str) -> Vec<(usize, String)> {
        let (tokens, _) = cut(text).unwrap();
        tokens
            .into_iter()
            .map(|token| (token.line, token.text))
            .collect()
    }

    fn pairs(expected: &[(usize, &str)]) -> Vec<(usize, String)> {
        expected
            .iter()
            .map(|(line, text)| (*line, text.to_string()))
            .collect()
    }

    #[test]
    fn comments_of_every_kind_are_kept_with_their_lines() {
        let text = "//! a\n/// b\nfn f() { // c\n/* d\n e */ g() }\n// f";
        let expected = [
            (1, "//! a"),
            (2, "/// b"),
            (3, "// c"),
            (4, "/* d"),
            (5, "e */"),
            (6, "// f"),
        ];
        assert_eq!(comments(text), pairs(&expected));
    }

    #[test]
    fn what_looks_like_a_comment_inside_a_string_is_none_and_its_lines_count() {
        let text = "r#\"// a\n// b\"# c";
        assert_eq!(comments(text), []);
        assert_eq!(lines(text), pairs(&[(1, "r#\"// a\n// b\"#"), (2, "c")]));
    }

    #[test]
    fn an_opening_bracket_knows_the_one_that_closes_it() {
        let (tokens, _) = cut("a { b ( c ) } d").unwrap();
        assert_eq!(
            tokens.iter().map(|token| token.close).collect::<Vec<_>>(),
            [0, 6, 2, 5, 4, 5, 6, 7]
        );
    }

    #[test]
    fn text_that_is_not_rust_is_an_error_with_its_line() {
        assert_eq!(cut("fn f() {\n}\n}").err().unwrap().0, 3);
    }
}
