//! The results of a run: tables of columns of numbers, and a summary.

/// One column of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Small codes and flags.
    U8(Vec<u8>),
    /// Small counts.
    U16(Vec<u16>),
    /// Counts and sizes.
    U32(Vec<u32>),
    /// Times in nanoseconds, large counts.
    U64(Vec<u64>),
    /// Real numbers.
    F64(Vec<f64>),
}

impl Column {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Column::U8(v) => v.len(),
            Column::U16(v) => v.len(),
            Column::U32(v) => v.len(),
            Column::U64(v) => v.len(),
            Column::F64(v) => v.len(),
        }
    }
    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Type code in the manner of NumPy's array interface (`"<u4"`), and the values' bytes,
    /// little-endian.
    pub fn into_bytes(self) -> (&'static str, Vec<u8>) {
        fn gather<const N: usize>(values: impl Iterator<Item = [u8; N]>) -> Vec<u8> {
            values.flatten().collect()
        }
        match self {
            Column::U8(v) => ("|u1", v),
            Column::U16(v) => ("<u2", gather(v.iter().map(|x| x.to_le_bytes()))),
            Column::U32(v) => ("<u4", gather(v.iter().map(|x| x.to_le_bytes()))),
            Column::U64(v) => ("<u8", gather(v.iter().map(|x| x.to_le_bytes()))),
            Column::F64(v) => ("<f8", gather(v.iter().map(|x| x.to_le_bytes()))),
        }
    }
}

/// Named columns of equal length.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Name of the table.
    pub name: &'static str,
    /// Column names and values.
    pub columns: Vec<(String, Column)>,
    /// For equally spaced rows: time of the first row and the step, in seconds.
    pub every_s: Option<(f64, f64)>,
}

/// One figure of a summary.
#[derive(Clone, Debug, PartialEq)]
pub enum Figure {
    /// A count.
    Whole(u64),
    /// A real number.
    Real(f64),
    /// A word, such as a fingerprint.
    Text(String),
    /// Several figures under one name.
    Group(Summary),
}

/// Named figures in a fixed order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary(pub Vec<(String, Figure)>);

impl Summary {
    /// Adds a count.
    pub fn whole(&mut self, name: &str, value: u64) {
        self.0.push((name.to_owned(), Figure::Whole(value)));
    }
    /// Adds a number.
    pub fn real(&mut self, name: &str, value: f64) {
        self.0.push((name.to_owned(), Figure::Real(value)));
    }
    /// Adds a word.
    pub fn text(&mut self, name: &str, value: impl Into<String>) {
        self.0.push((name.to_owned(), Figure::Text(value.into())));
    }
    /// Adds a group.
    pub fn group(&mut self, name: &str, value: Summary) {
        self.0.push((name.to_owned(), Figure::Group(value)));
    }
    /// The figure called `name`; figures inside groups are not searched.
    pub fn get(&self, name: &str) -> Option<&Figure> {
        self.0.iter().find(|(n, _)| n == name).map(|(_, f)| f)
    }
    /// The group called `name`, to add figures to.
    pub fn group_mut(&mut self, name: &str) -> Option<&mut Summary> {
        match self.0.iter_mut().find(|(n, _)| n == name) {
            Some((_, Figure::Group(group))) => Some(group),
            _ => None,
        }
    }
    /// A number by name, whole or real.
    ///
    /// # Panics
    /// If there is no such number: the caller misspelt it.
    pub fn number(&self, name: &str) -> f64 {
        match self.get(name) {
            Some(Figure::Whole(v)) => *v as f64,
            Some(Figure::Real(v)) => *v,
            other => panic!("summary has no number {name:?}: {other:?}"),
        }
    }
}
