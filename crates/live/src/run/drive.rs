//! The loop of a run: moves packets when they are due, until the measured time is over and then
//! until the programs have ended. The clock and the programs are parameters.

use packet::{Duration, Instant};
use record::LogHistogram;

use crate::bridge::Bridge;
use crate::control::Announcement;
use crate::device::Device;
use crate::fault::{Fault, doing};
use crate::priority::Precedence;

/// How long before something is due the loop stops sleeping: waking up takes that long.
const SPIN: Duration = Duration::from_micros(60);
/// How often the state of the programs is checked.
const LOOK: Duration = Duration::from_millis(20);
/// Over what time the router's load is measured.
const JUDGED: Duration = Duration::from_millis(1_000);
/// How long programs may take to end after the run.
const TO_END: Duration = Duration::from_millis(30_000);

/// What surrounds the router: a clock, and programs that use it.
pub trait Around<D> {
    /// Time since the run began.
    fn now(&self) -> Instant;

    /// Processor time that the router has used.
    fn used(&self) -> Duration;

    /// Waits for packets, for announcements of programs, or until `most` has passed. Returns
    /// whether there are announcements.
    ///
    /// # Errors
    /// A sentence, if the system cannot wait.
    fn sleep(&mut self, devices: &[D; 2], most: Duration) -> Result<bool, Fault>;

    /// Passes on what programs have announced.
    fn poll_announcements(&self, notify: &mut dyn FnMut(&Announcement));

    /// Checks the programs. Returns whether a program has ended that ends the run.
    ///
    /// # Errors
    /// What a program of users, or a capture, failed with.
    fn look_after(&mut self) -> Result<bool, Fault>;

    /// Whether all programs of users have ended.
    fn users_have_ended(&self) -> bool;

    /// Ends all programs that still run.
    ///
    /// # Errors
    /// A sentence, if the system does not say whether one has ended.
    fn stop(&mut self) -> Result<(), Fault>;
}

/// Processor time that the router had used, and when.
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
    /// By how much the loop was late at each step, sleep not counted.
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

    /// Moves packets until `end`, or until a program has ended that ends the run. Returns when that
    /// was.
    ///
    /// # Errors
    /// What a program failed with, or what the system refuses.
    pub fn run(&mut self, end: Instant) -> Result<Instant, Fault> {
        self.until(end, A::look_after)
    }

    /// Waits after the measured time, which ended at `end`: packets still move until the users'
    /// programs end by themselves; then all others are ended.
    ///
    /// # Errors
    /// What a program failed with.
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
        // When the loop should have continued.
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
                // A packet woke the loop: the exact time is unknown, but not later than the
                // intended wake-up.
                wanted = (now + rest).min(self.programs.now());
            }
        }
    }

    /// Once in [`JUDGED`] the router's share of a processor decides whether it keeps its priority.
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
