//! Writes the page's text and tables as HTML.

use std::fmt::{self, Write};

use super::chart::{self, COLOURS};
use crate::engine::Verdict;
use crate::reproduce::page::{Chart, Page, Section, Setting};
use tidegate_cli_support::output::Table;

const STYLE: &str = include_str!("style.css");

/// Displays text with its HTML characters escaped.
pub struct Plain<'a>(pub &'a str);

impl fmt::Display for Plain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| match c {
            '&' => f.write_str("&amp;"),
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            '"' => f.write_str("&quot;"),
            c => f.write_char(c),
        })
    }
}

/// A page's HTML anchor, unique even if an experiment has several pages.
struct Id<'a>(&'a Page, usize);

impl fmt::Display for Id<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(page, number) = self;
        write!(f, "{}-{}", Plain(&page.experiment), number + 1)
    }
}

pub fn document(pages: &[Page]) -> Result<String, String> {
    let mut out = String::new();
    let head = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Tidegate: published experiments, reproduced</title>\n<style>\n{COLOURS}{STYLE}</style>\n</head>\n<body>\n"
    );
    out.push_str(&head);
    out.push_str("<header><h1>Published experiments, reproduced</h1>\n<nav>");
    for (number, page) in pages.iter().enumerate() {
        let title = title(pages, number);
        let (id, title) = (Id(page, number), Plain(&title));
        out.push_str(&format!("<a href=\"#{id}\">{title}</a> "));
    }
    out.push_str("</nav></header>\n<main>\n");
    for (number, page) in pages.iter().enumerate() {
        article(&mut out, page, Id(page, number), &title(pages, number))?;
    }
    out.push_str("</main>\n</body>\n</html>\n");
    Ok(out)
}

/// Returns a page's title, with a number if its experiment has several pages.
fn title(pages: &[Page], number: usize) -> String {
    let page = &pages[number];
    let same = |other: &&Page| other.experiment == page.experiment;
    match pages.iter().filter(same).count() {
        1 => page.title.clone(),
        all => {
            let place = pages[..=number].iter().filter(same).count();
            format!("{} ({place} of {all})", page.title)
        }
    }
}

fn article(out: &mut String, page: &Page, id: Id<'_>, title: &str) -> Result<(), String> {
    let (title, source) = (Plain(title), Plain(&page.source));
    out.push_str(&format!(
        "<article id=\"{id}\">\n<h2>{title}</h2>\n<p>After {source}.</p>\n<dl>"
    ));
    for Setting { name, value } in &page.made {
        let (name, value) = (Plain(name), Plain(value));
        out.push_str(&format!("<div><dt>{name}</dt><dd>{value}</dd></div>"));
    }
    out.push_str("</dl>\n");
    findings(out, page);
    page.sections.iter().try_for_each(|one| section(out, one))?;
    out.push_str("</article>\n");
    Ok(())
}

fn findings(out: &mut String, page: &Page) {
    let findings = &page.findings;
    if findings.is_empty() {
        return;
    }
    let beside = if page.expected {
        "Expected"
    } else {
        "Published"
    };
    let count = |verdict: Verdict| findings.iter().filter(|one| one.verdict == verdict).count();
    let counts: Vec<String> = Verdict::ALL
        .iter()
        .filter(|verdict| count(**verdict) > 0)
        .map(|verdict| format!("{} {verdict}", count(*verdict)))
        .collect();
    out.push_str(&format!(
        "<h3>Findings</h3>\n<p>Of {}: {}.</p>\n<ul class=\"findings\">\n",
        findings.len(),
        counts.join(", ")
    ));
    for (finding, why) in page.explained() {
        let class = class(finding.verdict);
        out.push_str(&format!(
            "<li class=\"{class}\"><p><b>{}</b> <span class=\"verdict\">{}</span></p>\n",
            Plain(&finding.what),
            finding.verdict
        ));
        let published = match finding.published.as_str() {
            "" => "no figure",
            published => published,
        };
        out.push_str(&format!(
            "<p>{beside} ({}): {}. Here: {}.</p><p class=\"why\">{}. {}</p>",
            Plain(&finding.source),
            Plain(published),
            Plain(&finding.ours),
            Plain(&finding.range),
            Plain(why),
        ));
        out.push_str("</li>\n");
    }
    out.push_str("</ul>\n");
}

/// Returns the CSS class of a verdict, which determines its colour.
fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Agrees | Verdict::Stronger => "same",
        Verdict::Contradicts => "other",
        Verdict::Weaker => "weaker",
        _ => "open",
    }
}

fn section(out: &mut String, section: &Section) -> Result<(), String> {
    let (title, text) = (Plain(&section.title), Plain(&section.text));
    out.push_str(&format!("<section>\n<h3>{title}</h3>\n<p>{text}</p>\n"));
    charts(out, &section.charts)?;
    section.tables.iter().for_each(|one| table(out, one));
    out.push_str("</section>\n");
    Ok(())
}

/// Writes charts side by side. Successive charts with the same lines share one legend.
fn charts(out: &mut String, charts: &[Chart]) -> Result<(), String> {
    let names = |chart: &Chart| -> Vec<String> {
        let names = chart.lines.iter().map(|line| line.name.clone());
        names.collect()
    };
    for group in charts.chunk_by(|a, b| names(a) == names(b)) {
        out.push_str("<p class=\"legend\">");
        for (number, name) in names(&group[0]).iter().enumerate() {
            let colour = chart::name(number);
            let name = Plain(name);
            out.push_str(&format!(
                "<span><i style=\"background:{colour}\"></i>{name}</span> "
            ));
        }
        out.push_str("</p>\n<div class=\"charts\">\n");
        for one in group {
            let (svg, title) = (chart::draw(one)?, Plain(&one.title));
            out.push_str(&format!(
                "<figure><figcaption>{title}</figcaption>\n{svg}</figure>\n"
            ));
        }
        out.push_str("</div>\n");
    }
    Ok(())
}

fn table(out: &mut String, table: &Table) {
    let title = Plain(&table.title);
    out.push_str(&format!(
        "<h4>{title}</h4>\n<div class=\"wide\"><table>\n<tr>"
    ));
    for column in &table.columns {
        out.push_str(&format!("<th>{}</th>", Plain(column)));
    }
    out.push_str("</tr>\n");
    for row in &table.rows {
        out.push_str("<tr>");
        for cell in row {
            out.push_str(&format!("<td>{}</td>", Plain(&cell.to_string())));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</table></div>\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_special_characters_are_escaped() {
        let plain = Plain("a < b & \"c\"").to_string();
        assert_eq!(plain, "a &lt; b &amp; &quot;c&quot;");
    }
}
