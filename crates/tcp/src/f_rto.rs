//! F-RTO (RFC 5682): the steps that distinguish a spurious retransmission timeout from a real one,
//! for every sender. Each kind of sender decides what counts as evidence and what follows from a
//! verdict.

/// State of the detection after a retransmission timeout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FRto {
    /// No detection is under way.
    #[default]
    Off,
    /// Step 2: the first segment has been retransmitted; waiting for the first ACK.
    FirstAck,
    /// Step 3: new data went out; waiting for the second ACK.
    SecondAck,
}

/// What an ACK after a timeout shows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Evidence {
    /// The ACK acknowledges new data.
    pub advances: bool,
    /// Data that was sent before the timeout and not retransmitted has arrived.
    pub original: bool,
    /// The ACK can show that the timeout was not spurious; some duplicates cannot.
    pub decides: bool,
    /// There is new data, and the windows allow to send it.
    pub new_data: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The ACK decides nothing.
    Undecided,
    /// Step 2b: new data is to go out before anything else is retransmitted.
    SendNew,
    /// Step 3b: the timeout was spurious.
    Spurious,
    /// Steps 2a and 3a: the timeout was not spurious.
    Genuine,
}

impl FRto {
    /// Advances the detection by an ACK; returns what the ACK decides.
    pub fn on_ack(&mut self, evidence: Evidence) -> Verdict {
        let verdict = match *self {
            _ if evidence.original => Verdict::Spurious,
            FRto::FirstAck if evidence.advances && evidence.new_data => Verdict::SendNew,
            _ if evidence.decides => Verdict::Genuine,
            _ => Verdict::Undecided,
        };
        *self = match verdict {
            Verdict::Undecided => *self,
            Verdict::SendNew => FRto::SecondAck,
            Verdict::Spurious | Verdict::Genuine => FRto::Off,
        };
        verdict
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_rfc_5682() {
        let evidence = |advances, original, decides, new_data| Evidence {
            advances,
            original,
            decides,
            new_data,
        };
        let step = |mut at: FRto, evidence| (at.on_ack(evidence), at);
        let first = |evidence| step(FRto::FirstAck, evidence);
        // Step 2b needs an ACK of new data and new data to send; else 2a applies, or no step.
        let new = evidence(true, false, true, true);
        assert_eq!(first(new), (Verdict::SendNew, FRto::SecondAck));
        let nothing_new = evidence(true, false, true, false);
        assert_eq!(first(nothing_new), (Verdict::Genuine, FRto::Off));
        let duplicate = evidence(false, false, true, true);
        assert_eq!(first(duplicate), (Verdict::Genuine, FRto::Off));
        let silent = evidence(false, false, false, true);
        assert_eq!(first(silent), (Verdict::Undecided, FRto::FirstAck));
        // Step 3b: data sent before the timeout has arrived; step 3a: a duplicate.
        let second = |evidence| step(FRto::SecondAck, evidence);
        assert_eq!(second(evidence(true, true, true, false)), (Verdict::Spurious, FRto::Off));
        assert_eq!(second(duplicate), (Verdict::Genuine, FRto::Off));
        assert_eq!(second(silent), (Verdict::Undecided, FRto::SecondAck));
    }
}
