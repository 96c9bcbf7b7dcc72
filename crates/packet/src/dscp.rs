//! Differentiated services code points by name.

/// Names and code points: default and class selectors (RFC 2474), assured forwarding (RFC 2597),
/// expedited forwarding (RFC 3246), voice-admit (RFC 5865), lower effort (RFC 8622), and the
/// low-delay bit of the older type of service (RFC 1349), which diffserv queues still honour.
pub const CODE_POINTS: [(&str, u8); 24] = [
    ("default", 0),
    ("le", 1),
    ("tos4", 4),
    ("cs1", 8),
    ("af11", 10),
    ("af12", 12),
    ("af13", 14),
    ("cs2", 16),
    ("af21", 18),
    ("af22", 20),
    ("af23", 22),
    ("cs3", 24),
    ("af31", 26),
    ("af32", 28),
    ("af33", 30),
    ("cs4", 32),
    ("af41", 34),
    ("af42", 36),
    ("af43", 38),
    ("cs5", 40),
    ("va", 44),
    ("ef", 46),
    ("cs6", 48),
    ("cs7", 56),
];

/// The names of all code points, in the order of [`CODE_POINTS`].
pub const NAMES: [&str; CODE_POINTS.len()] = {
    let mut names = [""; CODE_POINTS.len()];
    let mut i = 0;
    while i < names.len() {
        names[i] = CODE_POINTS[i].0;
        i += 1;
    }
    names
};

/// The name of a code point, if it has one.
pub fn name(code: u8) -> Option<&'static str> {
    CODE_POINTS.iter().find(|(_, known)| *known == code).map(|(name, _)| *name)
}

/// The code point called `name`.
pub fn find(name: &str) -> Option<u8> {
    CODE_POINTS.iter().find(|(known, _)| *known == name).map(|(_, code)| *code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_points_have_six_bits_and_one_name_each() {
        assert!(CODE_POINTS.windows(2).all(|pair| pair[0].1 < pair[1].1));
        assert!(CODE_POINTS.iter().all(|(_, code)| *code < 64));
        assert_eq!(NAMES.map(|name| find(name).unwrap()), CODE_POINTS.map(|(_, code)| code));
        // RFC 2597: AFxy is 8x + 2y. RFC 2474: CSx is 8x.
        assert_eq!((find("af31"), find("cs6"), find("ef")), (Some(26), Some(48), Some(46)));
        assert_eq!(find("urgent"), None);
        assert_eq!((name(46), name(3)), (Some("ef"), None));
    }
}
