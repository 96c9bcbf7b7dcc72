//! F-RTO (RFC 5682): the steps that tell a spurious retransmission timeout from a real one, whoever
//! sends. What counts as evidence, and what follows from a verdict, are the senders' own.

/// Where the detection stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FRto {
    /// None is under way.
    #[default]
    Off,
    /// Step 2: the first segment has been sent again; waiting for the first ACK.
    FirstAck,
    /// Step 3: new data went out; waiting for the second ACK.
    SecondAck,
}

/// What an ACK tells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Evidence {
    /// It acknowledges something new.
    pub advances: bool,
    /// Data sent before the timeout, and not again, has arrived after all.
    pub original: bool,
    /// It decides something: a duplicate may not.
    pub decides: bool,
    /// New data may go out.
    pub new_data: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Nothing yet.
    Undecided,
    /// Step 2b: new data is to go out before anything else goes again.
    SendNew,
    /// Step 3b: the timeout was spurious.
    Spurious,
    /// Steps 2a and 3a: it was not.
    Genuine,
}

impl FRto {
    /// Takes the step that an ACK asks for.
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
