//! Tests that the bounds of a range are themselves accepted.

use super::*;

#[test]
fn a_bound_itself_is_within_it() {
    let number = |name, value| (name, Raw::Number(value));
    let text = |name, value: &str| (name, Raw::Text(value.into()));
    type Requested = Vec<(&'static str, Raw)>;
    let cases: [(&str, Requested, Requested); 4] = [
        (
            "afd",
            vec![number("m_fair_min", 100.0), number("b", 100.0)],
            vec![number("m_fair_min", 101.0), number("b", 100.0)],
        ),
        (
            "choke",
            vec![text("profile", "linux"), number("limit", 131_071.0)],
            vec![text("profile", "linux"), number("limit", 131_072.0)],
        ),
        ("cake", vec![number("queues", 1_024.0)], vec![number("queues", 1_023.0)]),
        (
            "rio",
            vec![
                text("profile", "altq"),
                number("classes", 4.0),
                number("in_classes", 2.0),
                number("medium_classes", 2.0),
            ],
            vec![
                text("profile", "altq"),
                number("classes", 3.0),
                number("in_classes", 2.0),
                number("medium_classes", 2.0),
            ],
        ),
    ];
    for (name, within, beyond) in cases {
        assert_eq!(told(name, &within), None, "{name}");
        assert!(told(name, &beyond).is_some(), "{name}");
    }
}

#[test]
fn wred_says_how_many_classes_remain_and_whose_threshold_is_too_large() {
    let number = |name, value| (name, Raw::Number(value));
    let why = told("wred", &[number("first_class", 5.0), number("classes", 5.0)]).unwrap();
    assert!(why.ends_with("at most 4 remain"), "{why}");
    let high = |more: (&'static str, Raw)| {
        let requested = [number("min_th", 30.0), number("max_th", 60.0), more];
        told("wred", &requested).unwrap()
    };
    let why = high(number("max_th_0", 20.0));
    assert!(why.starts_with("min_th: 30 is above max_th_0 = 20 of class 0"), "{why}");
    let even = ("spacing", Raw::Text("even".into()));
    let requested =
        [number("min_th", 30.0), number("max_th", 60.0), number("max_th_3", 20.0), even];
    let why = told("wred", &requested).unwrap();
    assert!(why.starts_with("min_th: 30 gives class 3 its 40, which is above max_th_3"), "{why}");
}
