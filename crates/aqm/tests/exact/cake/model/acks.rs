//! A second transcription of cake_ack_filter, cake_tcph_may_drop and cake_tcph_sack_compare. The
//! comparison returns -1, 0 or 1.

use packet::TcpHeader;

fn before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

/// cake_tcph_sack_compare: 1 if the SACK blocks of `b` cover those of `a` and more, 0 if they
/// cover just these, else -1.
fn sack_compare(a: &TcpHeader, b: &TcpHeader) -> i32 {
    let (sack_a, sack_b) = (a.sack.as_slice(), b.sack.as_slice());
    match (sack_a.len(), sack_b.len()) {
        (0, 0) => return 0,
        (0, _) => return 1,
        (_, 0) => return -1,
        _ => {}
    }
    let (mut bytes_a, mut bytes_b) = (0_u32, 0_u32);
    for (_, end) in sack_b.iter().map(|&(start, end)| (start, end.wrapping_sub(start))) {
        bytes_b = bytes_b.wrapping_add(end);
    }
    for &(start_a, end_a) in sack_a {
        if before(start_a, a.ack) {
            return -1;
        }
        bytes_a = bytes_a.wrapping_add(end_a.wrapping_sub(start_a));
        let mut found = false;
        for &(start_b, end_b) in sack_b {
            if !before(start_a, start_b) && !before(end_b, end_a) {
                found = true;
            }
        }
        if !found {
            return -1;
        }
    }
    i32::from(bytes_b > bytes_a)
}

/// cake_tcph_may_drop: whether `tcph` may be dropped for a later one with these timestamps.
fn may_drop(tcph: &TcpHeader, tstamp_new: u32, tsecr_new: u32) -> bool {
    if tcph.other_flags || tcph.opens || !tcph.acks || tcph.other_options {
        return false;
    }
    match tcph.stamps {
        Some((tsval, tsecr)) => !before(tstamp_new, tsval) && !before(tsecr_new, tsecr),
        None => true,
    }
}

/// cake_ack_filter: index of the packet of `waiting` (flow, header) that is dropped, if one is; the
/// last one has just arrived.
pub fn filter(waiting: &[(u64, Option<TcpHeader>)], aggressive: bool) -> Option<usize> {
    let (flow, tcph) = *waiting.last()?;
    let tcph = tcph?;
    if waiting.len() == 1 || !tcph.acks || tcph.opens {
        return None;
    }
    let (tstamp, tsecr) = tcph.stamps.unwrap_or((0, 0));
    let mut elig_ack = None;
    let mut elig_flags = (false, false);
    let mut num_found = 0;
    for (n, &(check_flow, check)) in waiting[..waiting.len() - 1].iter().enumerate() {
        let Some(check) = check else { continue };
        if check_flow != flow {
            continue;
        }
        if elig_ack.is_some() && (check.ece, check.cwr) != elig_flags {
            elig_ack = None;
            num_found -= 1;
        }
        if !may_drop(&check, tstamp, tsecr) || check.payload != 0 || before(tcph.ack, check.ack) {
            continue;
        }
        let sack_comp = sack_compare(&check, &tcph);
        if sack_comp < 0 || (check.ack == tcph.ack && sack_comp == 0) {
            continue;
        }
        if elig_ack.is_none() {
            elig_ack = Some(n);
            elig_flags = (check.ece, check.cwr);
        }
        num_found += 1;
        if num_found > 1 {
            return elig_ack;
        }
    }
    let consecutive = elig_ack.is_some_and(|n| n + 2 == waiting.len());
    let match_flags = elig_flags == (tcph.ece, tcph.cwr);
    elig_ack.filter(|_| aggressive && consecutive && match_flags)
}
