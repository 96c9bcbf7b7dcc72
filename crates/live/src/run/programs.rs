//! The router's environment in a real run: the system's clock and the run's programs.

use packet::{Duration, Instant};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use super::capture::Capture;
use super::drive::Around;
use crate::clock::{Clock, thread_cpu, timespec};
use crate::control::{Announcement, Message};
use crate::device::Tun;
use crate::fault::{Fault, doing};
use crate::parts::Running;

/// The exit code of a program that SIGKILL ended.
const KILLED: i32 = 128 + 9;

/// The programs that run, and the run's clock.
pub struct Programs {
    /// The clock of the run's time.
    pub clock: Clock,
    /// The first process of the programs' PID namespace: when it ends, the kernel ends all of them.
    pub holder: Running,
    /// Users, servers, and the commands that the caller runs behind the link.
    pub running: Vec<Running>,
    /// Capture of the packets that leave the links.
    pub capture: Option<Capture>,
}

impl Around<Tun> for Programs {
    fn now(&self) -> Instant {
        self.clock.now()
    }

    fn used(&self) -> Duration {
        thread_cpu()
    }

    fn sleep(&mut self, devices: &[Tun; 2], most: Duration) -> Result<bool, Fault> {
        let [clients, servers] = devices;
        let mut files =
            vec![PollFd::new(clients, PollFlags::IN), PollFd::new(servers, PollFlags::IN)];
        let words = self.running.iter().filter(|part| part.code.is_none());
        files.extend(words.filter_map(|p| Some(PollFd::new(p.control.as_ref()?, PollFlags::IN))));
        match poll(&mut files, Some(&timespec(most))) {
            Ok(_) => Ok(files[2..].iter().any(|file| file.revents().contains(PollFlags::IN))),
            Err(Errno::INTR) => Ok(false),
            Err(error) => Err(doing("wait for packets")(error)),
        }
    }

    fn poll_announcements(&self, notify: &mut dyn FnMut(&Announcement)) {
        for part in &self.running {
            while let Some(Message::Announce(of)) = part.receive() {
                notify(&of);
            }
        }
    }

    fn look_after(&mut self) -> Result<bool, Fault> {
        self.capture.as_ref().map_or(Ok(()), Capture::check)?;
        let from_outside =
            || Fault("the run's programs were ended from outside: start it again".into());
        if self.holder.has_ended()? {
            return Err(from_outside());
        }
        let (mut over, mut killed) = (false, false);
        for part in &mut self.running {
            if part.has_ended()? {
                if let Some(failure) = part.failure() {
                    return Err(failure);
                }
                over |= part.part.ends_run;
                killed |= part.code == Some(KILLED);
            }
        }
        // When the holder is killed, the kernel kills all programs, and this process may see their
        // end before the holder's.
        if over && killed && self.holder.ends_within(5)? {
            return Err(from_outside());
        }
        Ok(over)
    }

    fn users_have_ended(&self) -> bool {
        self.running.iter().all(|part| part.control.is_none() || part.code.is_some())
    }

    fn stop(&mut self) -> Result<(), Fault> {
        for part in &mut self.running {
            part.has_ended()?;
            part.stop();
        }
        self.holder.stop();
        Ok(())
    }
}
