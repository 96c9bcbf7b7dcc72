//! A congestion control in a WebAssembly module of its own, as in a browser tab. Its table is that
//! of `aqmlab_control.h` with pointers of 32 bits: they point into the module's own memory, and
//! function pointers are indices in the module's function table. All values of the module are
//! checked.

use std::sync::Arc;

use packet::params::{Field, Params};
use tcp::OwnControl;

use super::{Begin, Calls, ControlDescription, Happened, MOST_GAUGES, flags};
use crate::Pulse;
use crate::c::control_types::{AQMLAB_CONTROL_VERSION, ControlAck, ControlLost, ControlWindow};
use crate::description::text;
use crate::parameters::{Parameter, numbers};

/// Argument of a call besides the window.
#[derive(Clone, Copy, Debug)]
pub enum About<'a> {
    /// No other argument.
    Nothing,
    /// Duration without data to send, in nanoseconds.
    Idle(u64),
    /// An acknowledgement.
    Ack(&'a ControlAck),
    /// A lost segment.
    Lost(&'a ControlLost),
}

/// Access to the module through its host, such as a browser. An error is a sentence that continues
/// after the control's name.
pub trait Host: Clone + Send + Sync + 'static {
    /// Address of the table that the module's function `aqmlab_control` returns.
    ///
    /// # Errors
    /// A sentence, if the function fails.
    fn table(&self) -> Result<u32, String>;
    /// Copies bytes out of the module's memory.
    ///
    /// # Errors
    /// A sentence, if the range is not in its memory.
    fn read(&self, at: u32, into: &mut [u8]) -> Result<(), String>;
    /// Calls the module's function `create`. Returns the address of the state, which is not null.
    ///
    /// # Errors
    /// The module's reason for refusing the values, or a sentence on what failed.
    fn create(&self, function: u32, values: &[f64]) -> Result<u32, String>;
    /// Calls a function that gets the window and may change it.
    ///
    /// # Errors
    /// A sentence, if the call failed.
    fn call(
        &self,
        function: u32,
        state: u32,
        window: &mut ControlWindow,
        about: About,
    ) -> Result<(), String>;
    /// Calls the module's function `gauges`.
    ///
    /// # Errors
    /// A sentence, if the call failed.
    fn gauges(&self, function: u32, state: u32, values: &mut [f64]) -> Result<(), String>;
    /// Calls the module's function `destroy`.
    fn destroy(&self, function: u32, state: u32);
}

/// Size of the table in bytes, with 32-bit pointers.
const TABLE: u32 = 96;
/// Size of a parameter in bytes, with 32-bit pointers.
const PARAMETER: u32 = 56;
/// Size of a window in bytes.
const WINDOW: u32 = size_of::<ControlWindow>() as u32;
/// Size of an acknowledgement in bytes.
const ACK: u32 = size_of::<ControlAck>() as u32;

/// Most parameters that a control may have.
const MOST_PARAMETERS: u32 = 100;
/// Longest text that a control's table may point to, such as a name or summary, in bytes.
const MOST_TEXT: u32 = 1_000;

/// The functions of a control, as indices in the WebAssembly module's function table; 0 for null.
#[derive(Clone, Copy)]
struct Functions {
    create: u32,
    destroy: u32,
    on_open: u32,
    on_ack: u32,
    on_loss: u32,
    on_ecn: u32,
    on_timeout: u32,
    on_undo: u32,
    on_app_limited: u32,
    on_lost: u32,
    gauges: u32,
}

impl Functions {
    /// The functions from the last eleven members of a table.
    fn of(members: [u32; 11]) -> Self {
        let [create, destroy, on_open, on_ack, on_loss, on_ecn, rest @ ..] = members;
        let [on_timeout, on_undo, on_app_limited, on_lost, gauges] = rest;
        Functions {
            create,
            destroy,
            on_open,
            on_ack,
            on_loss,
            on_ecn,
            on_timeout,
            on_undo,
            on_app_limited,
            on_lost,
            gauges,
        }
    }

    /// Refuses a table without a function that every control must have.
    fn check(self, gauge_count: u32) -> Result<(), String> {
        let missing = [
            ("create", self.create == 0),
            ("on_ack", self.on_ack == 0),
            ("on_loss", self.on_loss == 0),
            ("gauges", self.gauges == 0 && gauge_count > 0),
        ];
        match missing.into_iter().find(|(_, missing)| *missing) {
            Some((name, _)) => Err(format!("its table has no function {name}")),
            None => Ok(()),
        }
    }
}

/// The congestion control of the module that `host` gives access to.
///
/// # Errors
/// A sentence on what is wrong with the module, without its name.
pub fn load<H: Host>(host: H) -> Result<&'static OwnControl, String> {
    let at = host.table()?;
    let head: [u32; 4] = words(&host, at)?;
    let ours = [AQMLAB_CONTROL_VERSION, TABLE, WINDOW, ACK];
    if head != ours {
        return Err(format!(
            "it was built for another version of the interface (version and sizes {head:?}, here {ours:?}): \
             build it again with the aqmlab_control.h of this aqmlab"
        ));
    }
    let says: [u32; 9] = words(&host, at.wrapping_add(16))?;
    let [
        name,
        summary,
        source,
        parameters,
        parameter_count,
        gauge_count,
        its_flags,
        ecn,
        gauge_names,
    ] = says;
    let functions = Functions::of(words(&host, at.wrapping_add(52))?);
    functions.check(gauge_count)?;
    if gauge_count as usize > MOST_GAUGES || parameter_count > MOST_PARAMETERS {
        return Err(format!(
            "it has more than {MOST_GAUGES} gauges or {MOST_PARAMETERS} parameters: give fewer"
        ));
    }
    let fields = (0..parameter_count).map(|i| field(&host, parameters.wrapping_add(i * PARAMETER)));
    let description = ControlDescription {
        name: text_at(&host, name)?,
        summary: text_at(&host, summary)?,
        source: text_at(&host, source)?,
        fields: fields.collect::<Result<_, _>>()?,
        flags: flags(its_flags, ecn)?,
    };
    let names = (0..gauge_count).map(|i| {
        let [at] = words(&host, gauge_names.wrapping_add(4 * i))?;
        text_at(&host, at)
    });
    let gauges: &'static [&'static str] = Vec::leak(names.collect::<Result<_, String>>()?);
    let name = description.name;
    let settle = move |params: &Params| {
        let (values, host) = (numbers(params), host.clone());
        let begin = move || {
            let state = host.create(functions.create, &values)?;
            let host = host.clone();
            Ok(Box::new(Foreign { name, host, functions, state, gauges }) as Box<dyn Calls>)
        };
        Arc::new(begin) as Arc<Begin>
    };
    description.control(&Pulse::default(), settle)
}

/// Reads numbers of 32 bits at an address of the module's memory.
fn words<const N: usize>(host: &impl Host, at: u32) -> Result<[u32; N], String> {
    let mut words = [0; N];
    let mut bytes = [0; 4];
    for (i, word) in words.iter_mut().enumerate() {
        host.read(at.wrapping_add(4 * i as u32), &mut bytes)?;
        *word = u32::from_le_bytes(bytes);
    }
    Ok(words)
}

/// Reads the text at an address of the module's memory, up to its zero byte; empty for null and for
/// invalid UTF-8.
fn text_at(host: &impl Host, at: u32) -> Result<&'static str, String> {
    let mut bytes = Vec::new();
    if at == 0 {
        return Ok("");
    }
    for i in 0..MOST_TEXT {
        let mut byte = [0];
        host.read(at.wrapping_add(i), &mut byte)?;
        if byte == [0] {
            return Ok(text(std::str::from_utf8(&bytes).unwrap_or_default()));
        }
        bytes.extend(byte);
    }
    Err(format!("a text of its table has more than {MOST_TEXT} bytes: shorten it"))
}

/// Reads the parameter at an address of the module's memory.
fn field(host: &impl Host, at: u32) -> Result<Field, String> {
    let [name, meaning, source, unit, choices] = words(host, at)?;
    let number = |offset: u32| {
        let mut bytes = [0; 8];
        host.read(at.wrapping_add(offset), &mut bytes).map(|()| f64::from_le_bytes(bytes))
    };
    let [kind] = words(host, at.wrapping_add(48))?;
    let parameter = Parameter {
        name: text_at(host, name)?,
        meaning: text_at(host, meaning)?,
        source: text_at(host, source)?,
        unit: text_at(host, unit)?,
        choices: text_at(host, choices)?,
        usual: number(24)?,
        least: number(32)?,
        most: number(40)?,
        kind,
    };
    parameter.field()
}

/// One connection's state in a module.
struct Foreign<H: Host> {
    name: &'static str,
    host: H,
    functions: Functions,
    state: u32,
    gauges: &'static [&'static str],
}

impl<H: Host> Foreign<H> {
    fn call(
        &self,
        call: &str,
        function: u32,
        window: &mut ControlWindow,
        about: About,
    ) -> Result<(), String> {
        if function == 0 {
            return Ok(());
        }
        let done = self.host.call(function, self.state, window, about);
        done.map_err(|why| format!("{}: {call} {why}", self.name))
    }
}

impl<H: Host> Drop for Foreign<H> {
    fn drop(&mut self) {
        if self.functions.destroy != 0 {
            self.host.destroy(self.functions.destroy, self.state);
        }
    }
}

impl<H: Host> Calls for Foreign<H> {
    fn on(&mut self, what: Happened, window: &mut ControlWindow) -> Result<(), String> {
        let of = &self.functions;
        let or_loss = |function| if function == 0 { of.on_loss } else { function };
        let (function, about) = match what {
            Happened::Open => (of.on_open, About::Nothing),
            Happened::Loss => (of.on_loss, About::Nothing),
            Happened::Ecn => (or_loss(of.on_ecn), About::Nothing),
            Happened::Timeout => (or_loss(of.on_timeout), About::Nothing),
            Happened::Undo => (of.on_undo, About::Nothing),
            Happened::AppLimited(idle) => (of.on_app_limited, About::Idle(idle.nanos())),
        };
        self.call(what.call(), function, window, about)
    }

    fn on_ack(&mut self, window: &mut ControlWindow, ack: &ControlAck) -> Result<(), String> {
        self.call("on_ack", self.functions.on_ack, window, About::Ack(ack))
    }

    fn on_lost(&mut self, window: &ControlWindow, lost: &ControlLost) -> Result<(), String> {
        let mut unchanged = *window;
        self.call("on_lost", self.functions.on_lost, &mut unchanged, About::Lost(lost))
    }

    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) -> Result<(), String> {
        if self.gauges.is_empty() {
            return Ok(());
        }
        let mut values = [0.0; MOST_GAUGES];
        let values = &mut values[..self.gauges.len()];
        let read = self.host.gauges(self.functions.gauges, self.state, values);
        read.map_err(|why| format!("gauges {why}"))?;
        self.gauges.iter().zip(values).for_each(|(name, value)| show(name, *value));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A memory that holds a table, and no functions.
    #[derive(Clone)]
    struct Memory(Vec<u8>);

    impl Memory {
        fn new() -> Self {
            let mut memory = Memory(vec![0; 1_000]);
            let head = [AQMLAB_CONTROL_VERSION, TABLE, WINDOW, ACK, 500, 0, 0, 200, 1];
            head.into_iter().enumerate().for_each(|(i, word)| memory.put(100 + 4 * i, word));
            [52, 64, 68].into_iter().for_each(|member| memory.put(100 + member, 1));
            memory.put(200, 510);
            memory.0[232..240].copy_from_slice(&1.0f64.to_le_bytes());
            memory.0[224..232].copy_from_slice(&2.0f64.to_le_bytes());
            memory.0[240..248].copy_from_slice(&3.0f64.to_le_bytes());
            memory.0[500..504].copy_from_slice(b"mine");
            memory.0[510..514].copy_from_slice(b"beta");
            memory
        }

        fn put(&mut self, at: usize, word: u32) {
            self.0[at..at + 4].copy_from_slice(&word.to_le_bytes());
        }
    }

    impl Host for Memory {
        fn table(&self) -> Result<u32, String> {
            Ok(100)
        }
        fn read(&self, at: u32, into: &mut [u8]) -> Result<(), String> {
            let found = self.0.get(at as usize..).and_then(|rest| rest.get(..into.len()));
            into.copy_from_slice(found.ok_or("points out of its memory")?);
            Ok(())
        }
        fn create(&self, _: u32, values: &[f64]) -> Result<u32, String> {
            if values == [2.0] { Ok(7) } else { Err("it wants 2".into()) }
        }
        fn call(&self, _: u32, _: u32, window: &mut ControlWindow, _: About) -> Result<(), String> {
            window.cwnd += 1;
            Ok(())
        }
        fn gauges(&self, _: u32, _: u32, _: &mut [f64]) -> Result<(), String> {
            Ok(())
        }
        fn destroy(&self, _: u32, _: u32) {}
    }

    #[test]
    fn a_table_in_another_memory_is_a_control() {
        let own = load(Memory::new()).unwrap();
        assert_eq!((own.about.name, own.about.fields.len()), ("mine", 1));
        let beta = own.about.fields[0];
        assert_eq!((beta.name, beta.default), ("beta", packet::params::Value::Real(2.0)));
        assert!((own.make)(&Params::defaults(own.about.fields)).is_ok());
    }

    #[test]
    fn a_wrong_table_is_one_sentence() {
        let why = |change: &dyn Fn(&mut Memory)| {
            let mut memory = Memory::new();
            change(&mut memory);
            load(memory).unwrap_err()
        };
        assert!(why(&|memory| memory.put(100, 9)).contains("another version"));
        assert_eq!(why(&|memory| memory.put(164, 0)), "its table has no function on_ack");
        assert_eq!(
            why(&|memory| memory.put(116, 990)),
            "its name is \"\": write letters, digits and underscores, at most 60"
        );
        assert_eq!(why(&|memory| memory.put(116, u32::MAX)), "points out of its memory");
        assert!(why(&|memory| memory.put(132, 1 << 30)).contains("100 parameters"));
        assert!(why(&|memory| memory.put(136, 1)).contains("no function gauges"));
        assert!(why(&|memory| memory.0.truncate(512)).contains("out of its memory"));
        assert!(
            why(&|memory| memory.0.splice(500.., [b'a'; 2_000]).for_each(drop)).contains("shorten")
        );
    }
}
