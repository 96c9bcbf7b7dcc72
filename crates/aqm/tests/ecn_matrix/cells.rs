//! Tests of the matrix: every cell, every discipline, every code point.

use super::*;

#[test]
fn every_cell() {
    let mut wrong = Vec::new();
    for row in MATRIX {
        let entry = find(row.of).expect("a discipline of the list");
        for (with, as_written) in switched(entry, row) {
            for (zone, (words, cell)) in [("normal", row.normal), ("severe", row.severe)] {
                let expected = if as_written { cell.into() } else { cell.replace(['M', 'B'], "D") };
                let found = letters(drive(entry, &format!("{with} {words}")).0);
                if found != expected {
                    let what = format!("{} {with} {words}", row.of);
                    wrong.push(format!("{what}: {zone} {found}, expected {expected}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_full_buffer_drops_every_code_point() {
    let mut wrong = Vec::new();
    for row in MATRIX {
        let entry = find(row.of).expect("a discipline of the list");
        for (with, as_written) in switched(entry, row) {
            let words = format!("{with} {}", row.full);
            let (fates, most) = drive(entry, &words);
            // With ecn off signals drop, and the buffer need not overflow.
            let all = !as_written || fates.iter().all(|fate| fate.overflowed);
            if !all || most > 10 {
                let overflowed = fates.map(|fate| fate.overflowed);
                wrong.push(format!("{} {words}: {overflowed:?}, {most} waited", row.of));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_discipline_has_a_row() {
    for entry in ALGORITHMS {
        assert!(
            MATRIX.iter().any(|row| row.of == entry.about.name),
            "{} has no row: add one to MATRIX, as docs/adding.md says",
            entry.about.name
        );
        for field in entry.about.fields.iter().filter(|field| field.name == "profile") {
            let Kind::Choice(names) = field.kind else { panic!("a profile is a choice") };
            for name in names {
                let profile = format!("profile={name}");
                let named = |row: &&Row| row.with.split(' ').any(|word| word == profile);
                let rows = MATRIX.iter().filter(|row| row.of == entry.about.name);
                assert!(
                    rows.filter(named).count() > 0,
                    "{} {profile} has no row: add one to MATRIX",
                    entry.about.name
                );
            }
        }
    }
}

/// RFC 9331, section 4.1, and RFC 9332: ECT(1) and CE packets wait in the scalable queue, all
/// others in the classic one.
#[test]
fn a_dual_queue_sorts_by_code_point() {
    let entry = find("dualpi2").expect("a discipline of the list");
    for (ecn, scalable) in CODE_POINTS.into_iter().zip([0.0, 0.0, 1.0, 1.0]) {
        let mut queue = build(entry, &[]);
        let arrived = Instant::ZERO;
        let packet =
            Packet { id: 0, flow: 0, bytes: 1000, ecn, arrived, header: Default::default() };
        let mut rng = Rng::named(1, "ecn matrix");
        queue.enqueue(packet, &mut Cx { now: arrived, rng: &mut rng, out: &mut |_| {} });
        queue.gauges(&mut |name, value| match name {
            "scalable_packets" => assert_eq!(value, scalable, "{ecn:?}"),
            "classic_packets" => assert_eq!(value, 1.0 - scalable, "{ecn:?}"),
            _ => {}
        });
    }
}
