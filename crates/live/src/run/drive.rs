//! The main loop of a run: moves packets when they are due, first until the end of the run, then
//! until the programs have ended. The clock and the programs are type parameters.

use packet::{Duration, Instant};
use record::LogHistogram;

use crate::bridge::Bridge;
use crate::control::Announcement;
use crate::device::Device;
use crate::fault::{Fault, doing};
use crate::priority::Precedence;

/// The loop sleeps until this long before its next event, then polls the clock: waking up may take
/// that long.
const SPIN: Duration = Duration::from_micros(60);
/// How often the state of the programs is checked.
const LOOK: Duration = Duration::from_millis(20);
/// Interval over which the router's share of a processor is measured.
const JUDGED: Duration = Duration::from_millis(1_000);
/// How long programs of users may take to end after the run.
const TO_END: Duration = Duration::from_millis(30_000);

/// The environment of the router: a clock, and the programs whose packets it forwards.
pub trait Around<D> {
    /// Time since the run began.
    fn now(&self) -> Instant;

    /// Processor time that the router has used.
    fn used(&self) -> Duration;

    /// Waits for packets, for announcements of programs, or until `most` has passed. Returns
    /// whether there are announcements.
    ///
    /// # Errors
    /// A sentence, if the system call fails.
    fn sleep(&mut self, devices: &[D; 2], most: Duration) -> Result<bool, Fault>;

    /// Calls `notify` with each new announcement of the programs.
    fn poll_announcements(&self, notify: &mut dyn FnMut(&Announcement));

    /// Checks the programs and the capture. Returns whether a program has ended whose end is the
    /// end of the run.
    ///
    /// # Errors
    /// A sentence, if a program of users has failed or the capture could not be written.
    fn look_after(&mut self) -> Result<bool, Fault>;

    /// Whether all programs of users have ended.
    fn users_have_ended(&self) -> bool;

    /// Ends all programs that still run.
    ///
    /// # Errors
    /// A sentence, if the system call fails.
    fn stop(&mut self) -> Result<(), Fault>;
}

/// The processor time that the router has used, and when it was read.
struct Load {
    at: Instant,
    used: Duration,
}

/// A run under way.
pub struct Drive<D, A> {
    /// The router and its two devices.
    pub bridge: Bridge<D>,
    /// The clock, and the programs of the run.
    pub programs: A,
    /// How late the main loop reached each of its steps, ns, without the time that it slept.
    pub gaps: LogHistogram,
    /// The router's scheduling priority.
    pub precedence: Precedence,
    load: Load,
}

impl<D: Device, A: Around<D>> Drive<D, A> {
    /// A run that is about to begin.
    pub fn new(bridge: Bridge<D>, programs: A, precedence: Precedence) -> Drive<D, A> {
        let load = Load { at: Instant::ZERO, used: programs.used() };
        Drive { bridge, programs, gaps: LogHistogram::default(), precedence, load }
    }

    /// Moves packets until `end`, or until the end of a program that ends the run. Returns the time
    /// of the run's end.
    ///
    /// # Errors
    /// A sentence, if a program or a system call has failed.
    pub fn run(&mut self, end: Instant) -> Result<Instant, Fault> {
        self.until(end, A::look_after)
    }

    /// Moves packets after the run's `end` until the users' programs have ended by themselves; then
    /// ends all other programs.
    ///
    /// # Errors
    /// A sentence, if a program has failed, or those of users do not end in time.
    pub fn wait(&mut self, end: Instant) -> Result<(), Fault> {
        let waited = self.until(end + TO_END, |programs| {
            programs.look_after()?;
            Ok(programs.users_have_ended())
        });
        let through = self.programs.users_have_ended();
        self.programs.stop()?;
        let seconds = TO_END.secs_f64();
        waited.and_then(|_| if through { Ok(()) } else {
            Err(Fault(format!("users had not ended {seconds} s after the run, and so have written nothing: let nothing else run on this machine")))
        })
    }

    fn until(
        &mut self,
        end: Instant,
        over: fn(&mut A) -> Result<bool, Fault>,
    ) -> Result<Instant, Fault> {
        let mut look = Instant::ZERO;
        // Time when the loop should have reached this step.
        let mut wanted = self.programs.now();
        loop {
            let now = self.programs.now();
            self.gaps.add(now.since(wanted).nanos());
            if now >= end {
                return Ok(end);
            }
            if now >= look {
                look = now + LOOK;
                self.judge_load(now);
                if over(&mut self.programs)? {
                    return Ok(now);
                }
            }
            wanted = now;
            let more = self.turn()?;
            let due = self.bridge.next().unwrap_or(end).min(end).min(look);
            let now = self.programs.now();
            let rest = due.since(now);
            if !more && rest > SPIN {
                let rest = Duration::from_nanos(rest.nanos() - SPIN.nanos());
                self.gaps.add(now.since(wanted).nanos());
                if self.programs.sleep(self.bridge.devices(), rest)? {
                    // Announcements must be read, or the next sleep would end at once.
                    self.programs.poll_announcements(&mut |of| self.bridge.announce(of));
                }
                // The loop should have continued at the intended wake-up, or before it, when a
                // packet arrived. The time of that is unknown: the gap counts from now then.
                wanted = (now + rest).min(self.programs.now());
            }
        }
    }

    /// Once in each interval [`JUDGED`], measures the router's share of a processor, by which it
    /// keeps or loses its real-time priority.
    fn judge_load(&mut self, now: Instant) {
        let span = now.since(self.load.at);
        if span >= JUDGED {
            let used = self.programs.used();
            let before = std::mem::replace(&mut self.load, Load { at: now, used });
            let used = Duration::from_nanos(used.nanos() - before.used.nanos());
            self.precedence.watch(used.secs_f64() / span.secs_f64(), now.secs_f64());
        }
    }

    fn turn(&mut self) -> Result<bool, Fault> {
        let programs = &self.programs;
        self.bridge
            .turn(&mut || programs.now(), &mut |router| {
                programs.poll_announcements(&mut |of| router.announce(of));
            })
            .map_err(doing("move a packet"))
    }
}
