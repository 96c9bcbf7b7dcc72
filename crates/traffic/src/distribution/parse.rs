//! Reading tables of numbers: `#` comments, a header line, rows separated by commas.

use std::fmt;

/// A mistake in a table: the line and one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadTable {
    /// Line of the text, counted from 1.
    pub line: usize,
    /// What is wrong there and what would be right.
    pub why: String,
}

impl BadTable {
    pub(super) fn new(line: usize, why: impl Into<String>) -> Self {
        BadTable { line, why: why.into() }
    }
}

impl fmt::Display for BadTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)
    }
}
impl std::error::Error for BadTable {}

/// One row of numbers, and its line in the text.
pub(super) struct Row<const N: usize> {
    pub line: usize,
    pub cells: [f64; N],
}

/// The rows of `text` under a header of `N` names, where `None` accepts any name.
///
/// # Errors
/// A header with other names, a row with more or fewer cells, a cell that is no finite number,
/// or no row at all.
pub(super) fn rows<const N: usize>(
    text: &str,
    header: [Option<&str>; N],
) -> Result<Vec<Row<N>>, BadTable> {
    let mut lines = text
        .lines()
        .zip(1..)
        .map(|(content, line)| (line, content.trim()))
        .filter(|(_, content)| !content.is_empty() && !content.starts_with('#'));
    let last = text.lines().count().max(1);
    let expected = header.map(|name| name.unwrap_or("<name>")).join(",");
    let (line, names) = lines
        .next()
        .ok_or_else(|| BadTable::new(last, format!("no header; it must be \"{expected}\"")))?;
    let found: Vec<&str> = names.split(',').map(str::trim).collect();
    let fits =
        found.len() == N && header.iter().zip(&found).all(|(h, f)| h.is_none_or(|h| h == *f));
    if !fits {
        let why = format!("the header is \"{names}\", but it must be \"{expected}\"");
        return Err(BadTable::new(line, why));
    }
    let rows = lines.map(|(line, content)| row(line, content)).collect::<Result<Vec<_>, _>>()?;
    if rows.is_empty() {
        return Err(BadTable::new(last, "no rows follow the header"));
    }
    Ok(rows)
}

fn row<const N: usize>(line: usize, content: &str) -> Result<Row<N>, BadTable> {
    let mut cells = [0.0; N];
    let mut count = 0;
    for text in content.split(',').map(str::trim) {
        let number = text.parse::<f64>().ok().filter(|v| v.is_finite());
        let number =
            number.ok_or_else(|| BadTable::new(line, format!("\"{text}\" is not a number")))?;
        if let Some(cell) = cells.get_mut(count) {
            *cell = number;
        }
        count += 1;
    }
    if count == N {
        Ok(Row { line, cells })
    } else {
        Err(BadTable::new(line, format!("{count} values stand here, but there must be {N}")))
    }
}
