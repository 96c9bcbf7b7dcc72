//! Video calls that adapt: an encoder, a congestion control that sets its rate, and a viewer, in
//! one direction or both.

mod congestion;
mod encoder;
mod picture;
mod receiver;
mod sender;
mod wire;

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Duration, Ecn, Instant, Rng};

use self::congestion::{Chosen, Control, KIND, Video};
use self::encoder::{Encoder, Encoding};
use self::receiver::Receiver;
use self::sender::{Sender, Sending};
use self::wire::{Parcel, Wire};
use super::{Lifetime, Lifetimes, RATE};
use crate::entry::{Entry, Group, Population};
use crate::report::{Report, Shown, VideoCallReport};
use crate::{Action, App, AppCx, Input};

/// Settings that the calls of a group share.
#[derive(Clone, Debug)]
struct Settings {
    /// The control in the state that it has at the begin of a call.
    control: Box<dyn Control>,
    video: Video,
    encoding: Encoding,
    /// Largest length of an RTP packet, bytes.
    packet: u32,
    ecn: Ecn,
    both_ways: bool,
}

/// One direction of a call: video goes this way, reports go the other way.
#[derive(Debug)]
struct Direction {
    back: bool,
    sender: Sender,
    receiver: Receiver,
}

/// A video call with both its ends.
#[derive(Debug)]
pub struct VideoCall {
    settings: Settings,
    peer: u32,
    lifetime: Lifetime,
    rngs: [Rng; 2],
    directions: Vec<Direction>,
    /// Contents of the datagrams in flight to the peer, and back.
    wires: [Wire; 2],
    /// Time of the next wake-up that is scheduled.
    armed: Instant,
    /// Begin of the measured part of the call.
    from: Instant,
}

impl VideoCall {
    /// Begins the call. The frames of both encoders are offset by a random part of a frame's time.
    fn begin(&mut self, now: Instant) {
        let Settings { control, video, encoding, packet, both_ways, .. } = &self.settings;
        for back in [false, true].into_iter().take(1 + usize::from(*both_ways)) {
            let mut rng = self.rngs[usize::from(back)].clone();
            let apart = if back { rng.uniform() / encoding.frame_rate } else { 0.0 };
            let begin = now + Duration::from_secs_f64(apart);
            let control = control.clone();
            let encoder = Encoder::new(*encoding, control.rates(0).encoder, rng);
            let sender = Sender::new(encoder, control, *packet, begin);
            self.directions.push(Direction {
                back,
                sender,
                receiver: Receiver::new(video.feedback),
            });
        }
        self.from = self.from.max(now);
    }

    /// Does all that is due, and schedules the next wake-up.
    fn work(&mut self, cx: &mut AppCx) {
        let over = self.lifetime.is_over(cx.now);
        let mut next = Instant::NEVER;
        for Direction { back, sender, receiver } in &mut self.directions {
            if over {
                sender.end();
            }
            sender.film(cx.now);
            let (peer, back) = (self.peer, *back);
            while let Some(media) = sender.send(cx.now) {
                self.wires[usize::from(back)].say(Parcel::Media(media));
                (cx.act)(Action::SendDatagram {
                    peer,
                    bytes: media.bytes,
                    back,
                    ecn: self.settings.ecn,
                });
            }
            if let Some(report) = receiver.report(cx.now) {
                let (bytes, back, ecn) = (report.bytes(), !back, Ecn::NotEct);
                self.wires[usize::from(back)].say(Parcel::Report(report));
                (cx.act)(Action::SendDatagram { peer, bytes, back, ecn });
            }
            next = next.min(sender.due()).min(receiver.due());
        }
        if next < self.armed {
            self.armed = next;
            (cx.act)(Action::WakeAt(next));
        }
    }

    fn on_datagram(&mut self, back: bool, number: u64, marked: bool, now: Instant) {
        // Index of a direction in `directions`: 0 is the one that every call has.
        let of = |back: bool| usize::from(back);
        match self.wires[of(back)].receive(number) {
            Some(Parcel::Media(media)) => {
                self.directions[of(back)].receiver.on_media(&media, marked, now);
            }
            Some(Parcel::Report(report)) => {
                self.directions[of(!back)].sender.on_report(&report, now)
            }
            None => {}
        }
    }
}

impl App for VideoCall {
    fn on(&mut self, input: Input, cx: &mut AppCx) {
        match input {
            Input::Start => self.armed = self.lifetime.start(cx),
            Input::Woke => {
                if cx.now >= self.armed {
                    self.armed = Instant::NEVER;
                }
                if self.directions.is_empty() {
                    self.begin(cx.now);
                }
                self.work(cx);
            }
            Input::Received { back, number, marked } => {
                self.on_datagram(back, number, marked, cx.now);
                self.work(cx);
            }
            _ => {}
        }
    }

    fn measure(&mut self, now: Instant) {
        self.from = now;
        for direction in &mut self.directions {
            direction.sender.done = Sending::default();
            direction.receiver.measure(now);
        }
    }

    fn report(&mut self, now: Instant) -> Option<Report> {
        let until = self.lifetime.end().min(now);
        let watching = |direction: &Direction| {
            let Direction { back, sender, receiver } = direction;
            let (freezes, frozen_s) = receiver.picture.freezes(until);
            VideoCallReport {
                back: *back,
                seconds: until.since(self.from).secs_f64(),
                frames: sender.done.frames,
                frames_lost: receiver.picture.lost(),
                delays: receiver.picture.delays().to_vec(),
                freezes,
                frozen_s,
                sent_bytes: sender.done.bytes,
                received_bytes: receiver.done.bytes,
                received: receiver.done.packets,
                lost: receiver.done.lost,
                marked: receiver.done.marked,
            }
        };
        Some(Report::VideoCall(self.directions.iter().map(watching).collect()))
    }

    fn shown(&mut self, now: Instant) -> Option<Shown> {
        let until = self.lifetime.end().min(now);
        let pictures = self.directions.iter().map(|of| of.receiver.picture.so_far(until));
        Some(pictures.fold(Shown::default(), Shown::and))
    }
}

/// The entry for video calls in the registry.
pub const ENTRY: Entry = Entry {
    about: About {
        name: "rtc-video",
        summary: "Video calls that adapt their rate to the network, with frame delay and freezes.",
        year: 2020,
        source: "RFC 8593, the encoder's statistical model; RFC 8888, the reports; the congestion \
                 control's own; freezes as W3C's Identifiers for WebRTC's Statistics API counts them. \
                 The RFCs' texts were not at hand: what is said of them is recalled and was checked \
                 against implementations that quote them",
        deviations: "Arrival times are reported exactly (RFC 8888: 1/1024 s), and each report repeats \
                     the one before. Nothing is sent again and no frame is repaired: one that lacks a \
                     packet is not shown, those after it are. A packet that a later one overtakes is \
                     lost, as RFC 8698 says. No sound, no circuit breaker (RFC 8083). The large frame \
                     of a burst grows with the rate.",
        fields: &FIELDS,
    },
    noun: ["video call", "video calls"],
    fetches: false,
    datagrams: true,
    build,
};

static FIELDS: [Field; 18] = [
    Field::new("congestion", KIND, Value::Choice("nada"))
        .meaning("Congestion control: its name, or a table { name = \"nada\", x_ref = \"20 ms\" }.")
        .source("RFC 8698, draft-ietf-rmcat-gcc-02, RFC 8298")
        ,
    Field::new("min_rate", RATE, Value::Real(150e3))
        .meaning("Lowest rate of the video.")
        .source("RFC 8698 figure 3 and RFC 8593: 150 kbit/s"),
    Field::new("max_rate", RATE, Value::Real(1.5e6))
        .meaning("Highest rate of the video.")
        .source("RFC 8698 figure 3: RMAX = 1.5 Mbit/s"),
    Field::new("start_rate", RATE, Value::Unset)
        .meaning("Rate at the begin; if not given, min_rate, for gcc 300 kbit/s.")
        .source("RFC 8698 section 4.3: r_ref begins at RMIN; libwebrtc: 300 kbit/s"),
    Field::new("packet", Kind::whole(Unit::Bytes, 100, super::MOST_PAYLOAD), Value::Whole(1_200))
        .meaning("Length of an RTP packet at most, its header of 12 B included.")
        .source("recalled: libwebrtc's largest packet"),
    Field::new("feedback", Kind::from(Unit::Time, 0.001, 10.0), Value::Unset)
        .meaning("Time between two reports of a receiver; if not given, 100 ms, for scream 20 ms.")
        .source("RFC 8698 figure 3: DELTA = 100 ms; libwebrtc's usual 100 ms; RFC 8298: 20 ms from 500 kbit/s on"),
    Field::new("ecn", Kind::Switch, Value::Switch(false))
        .meaning("Whether video is sent ECN-capable, ECT(0); reports are not.")
        .source("RFC 6679; constructed: off, since few negotiate it"),
    Field::new("both_ways", Kind::Switch, Value::Switch(true))
        .meaning("Whether the peer sends video as well.")
        .source("a conversation"),
    encoder::FIELDS[0],
    encoder::FIELDS[1],
    encoder::FIELDS[2],
    encoder::FIELDS[3],
    encoder::FIELDS[4],
    encoder::FIELDS[5],
    encoder::FIELDS[6],
    Lifetimes::FIELDS[0],
    Lifetimes::FIELDS[1],
    Lifetimes::FIELDS[2],
];

/// The properties of the video of a group's calls.
///
/// # Errors
/// If the least rate is above the largest one, or the first rate is not between them.
fn video(params: &Params, control: &Chosen) -> Result<Video, BadParams> {
    let (least, most) = (params.real("min_rate"), params.real("max_rate"));
    if least > most {
        let why = "is above max_rate; an encoder makes rates from min_rate to max_rate";
        return Err(BadParams::new("min_rate", why));
    }
    let usual = control.start().map_or(least, |start| start.clamp(least, most));
    let start = params.real_or("start_rate", usual);
    if !(least..=most).contains(&start) {
        let why = "lies outside min_rate to max_rate; a call begins with a rate that it may have";
        return Err(BadParams::new("start_rate", why));
    }
    let feedback = Duration::from_secs_f64(params.real_or("feedback", control.feedback()));
    let packet = params.whole("packet") as u32;
    Ok(Video { least, most, start, frame_rate: params.real("frame_rate"), feedback, packet })
}

fn build(params: &Params, group: &Group) -> Result<Population, BadParams> {
    group.need_machines("callers")?;
    let control = Chosen::of(params);
    let video = video(params, &control)?;
    let settings = Settings {
        control: control.make(&video),
        video,
        encoding: Encoding::read(params),
        packet: video.packet,
        ecn: if params.switch("ecn") { Ecn::Ect0 } else { Ecn::NotEct },
        both_ways: params.switch("both_ways"),
    };
    let (lifetimes, group) = (Lifetimes::new(params), group.clone());
    Ok(Population::new(group.sources, move |i| VideoCall {
        settings: settings.clone(),
        peer: group.peer_of(i),
        lifetime: lifetimes.draw(&mut group.stream("start", i)),
        rngs: ["film", "answer"].map(|of| group.stream(of, i)),
        directions: Vec::new(),
        wires: Default::default(),
        armed: Instant::NEVER,
        from: Instant::ZERO,
    }))
}
