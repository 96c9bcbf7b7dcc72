//! Descriptions of parameters that list the default of each profile, put together at compile time
//! from the profiles' own values: no second list of defaults can disagree with them.

pub(crate) struct Text {
    bytes: [u8; 640],
    length: usize,
}

impl Text {
    /// `head`, followed by each value and the names of the profiles that have it: `fj93, ns3: 5;
    /// ns2: 50.` Each row holds a profile's name and the description of its value.
    pub const fn of(head: &str, rows: &[[&str; 2]]) -> Self {
        let mut text = Text { bytes: [0; 640], length: 0 }.and(head);
        let mut row = 0;
        while row < rows.len() {
            if first_with(rows, row) == row {
                text = text.and(if row == 0 { " " } else { "; " }).and(rows[row][0]);
                let mut other = row + 1;
                while other < rows.len() {
                    if first_with(rows, other) == row {
                        text = text.and(", ").and(rows[other][0]);
                    }
                    other += 1;
                }
                text = text.and(": ").and(rows[row][1]);
            }
            row += 1;
        }
        text.and(".")
    }

    const fn and(mut self, more: &str) -> Self {
        let mut i = 0;
        while i < more.len() {
            self.bytes[self.length] = more.as_bytes()[i];
            self.length += 1;
            i += 1;
        }
        self
    }

    pub const fn as_str(&self) -> &str {
        match core::str::from_utf8(self.bytes.split_at(self.length).0) {
            Ok(text) => text,
            Err(_) => panic!("pieces of text are text"),
        }
    }
}

/// Index of the first row whose description equals that of row `row`.
const fn first_with(rows: &[[&str; 2]], row: usize) -> usize {
    let mut i = 0;
    while !same(rows[i][1], rows[row][1]) {
        i += 1;
    }
    i
}

const fn same(a: &str, b: &str) -> bool {
    let mut i = 0;
    while i < a.len() && i < b.len() && a.as_bytes()[i] == b.as_bytes()[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

/// The description of a parameter, ending with the default of each profile of a list:
/// `by_profile!("What it is.", PROFILES, max_p)`. The member's `text` describes its value.
macro_rules! by_profile {
    ($head:expr, $profiles:path, $member:ident) => {{
        const ROWS: [[&str; 2]; $profiles.len()] = {
            let mut rows = [[""; 2]; $profiles.len()];
            let mut i = 0;
            while i < rows.len() {
                rows[i] = [$profiles[i].name, $profiles[i].$member.text()];
                i += 1;
            }
            rows
        };
        const TEXT: &$crate::by_profile::Text = &$crate::by_profile::Text::of($head, &ROWS);
        TEXT.as_str()
    }};
}
pub(crate) use by_profile;

/// The names of the profiles of a list, as the choices of a parameter.
macro_rules! named {
    ($profiles:path) => {{
        const NAMES: [&str; $profiles.len()] = {
            let mut names = [""; $profiles.len()];
            let mut i = 0;
            while i < names.len() {
                names[i] = $profiles[i].name;
                i += 1;
            }
            names
        };
        packet::params::Kind::Choice(&NAMES)
    }};
}
pub(crate) use named;

/// A default value with its description.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stated<T> {
    pub value: T,
    words: &'static str,
}

impl<T> Stated<T> {
    pub const fn new(value: T, words: &'static str) -> Self {
        Stated { value, words }
    }
    /// The description that the table of parameters shows.
    pub const fn text(&self) -> &'static str {
        self.words
    }
}

/// A default value whose description is its literal.
macro_rules! stated {
    ($value:literal) => {
        $crate::by_profile::Stated::new($value, stringify!($value))
    };
}
pub(crate) use stated;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_with_one_value_share_a_piece() {
        let rows = [["fj93", "5"], ["ns2", "0.5 s"], ["ns3", "5"], ["linux", "50"]];
        let text = Text::of("Packets.", &rows);
        assert_eq!(text.as_str(), "Packets. fj93, ns3: 5; ns2: 0.5 s; linux: 50.");
    }

    #[test]
    fn words_are_the_same_if_neither_goes_on() {
        for (a, b, expected) in
            [("50", "5", false), ("5", "50", false), ("", "5", false), ("5", "5", true)]
        {
            assert_eq!(same(a, b), expected, "{a} {b}");
        }
    }

    #[test]
    fn a_default_is_described_in_its_words() {
        assert_eq!(Stated::new(0.005, "1/200").text(), "1/200");
    }
}
