
/// Which mutant is active in this process; its constructor tries many, each in a child of its own.
#[allow(warnings, clippy::all)]
pub(crate) mod mutant_switch {
    extern crate std;
    use std::format;
    use std::io::Write;
    use std::string::String;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    /// Note which places are reached.
    const COVER: u32 = u32::MAX;
    static ACTIVE: AtomicU32 = AtomicU32::new(0);

    /// The active mutant if it is one of these, else 0; while a constant is computed, 0.
    #[inline]
    pub(crate) const fn active(of: &'static [u32]) -> u32 {
        core::intrinsics::const_eval_select((of,), in_constant, at_run_time)
    }

    const fn in_constant(_: &'static [u32]) -> u32 {
        0
    }

    #[inline]
    fn at_run_time(of: &'static [u32]) -> u32 {
        let active = ACTIVE.load(Relaxed);
        if active == 0 {
            return 0;
        }
        if active == COVER {
            return covered(of);
        }
        if of.contains(&active) { active } else { 0 }
    }

    #[cold]
    fn covered(of: &'static [u32]) -> u32 {
        const NONE: AtomicU32 = AtomicU32::new(0);
        static SEEN: [AtomicU32; 65_536] = [NONE; 65_536];
        if SEEN[of[0] as usize].swap(1, Relaxed) == 0 {
            note(&of.iter().map(|n| format!("{n}\n")).collect::<String>());
        }
        0
    }

    fn note(text: &str) {
        let file = std::env::var("AQMLAB_MUTANT_FILE").expect("a file");
        let mut to = std::fs::OpenOptions::new();
        let mut to = to.create(true).append(true).open(file).expect("opens");
        to.write_all(text.as_bytes()).expect("is written");
    }

    #[repr(C)]
    struct Interval {
        every: [i64; 2],
        value: [i64; 2],
    }

    unsafe extern "C" {
        fn fork() -> i32;
        fn waitpid(pid: i32, status: *mut i32, options: i32) -> i32;
        fn _exit(status: i32) -> !;
        fn setitimer(which: i32, new: *const Interval, old: *mut Interval) -> i32;
        fn setrlimit(what: i32, limits: *const [u64; 2]) -> i32;
    }

    /// After this processor time, and this time by the clock, a signal ends the process.
    fn limit(millis: i64) {
        const REAL: i32 = 0;
        const PROF: i32 = 2;
        for (which, millis) in [(PROF, millis), (REAL, 60_000 + 20 * millis)] {
            let value = [millis / 1000, millis % 1000 * 1000];
            unsafe { setitimer(which, &Interval { every: [0, 0], value }, std::ptr::null_mut()) };
        }
    }

    #[used]
    #[unsafe(link_section = ".init_array")]
    static BEGIN: extern "C" fn() = begin;

    /// Before `main`: `AQMLAB_MUTANTS` is `cover`, or the mutants to be tried one after another.
    extern "C" fn begin() {
        let Ok(told) = std::env::var("AQMLAB_MUTANTS") else { return };
        if told == "cover" {
            ACTIVE.store(COVER, Relaxed);
            return;
        }
        let millis = std::env::var("AQMLAB_MUTANT_MILLIS").unwrap().parse().unwrap();
        let memory = std::env::var("AQMLAB_MUTANT_MEMORY").unwrap().parse().unwrap();
        const MEMORY: i32 = 9;
        const CORE: i32 = 4;
        for word in told.split(',') {
            let child = unsafe { fork() };
            if child == 0 {
                ACTIVE.store(word.parse().unwrap(), Relaxed);
                unsafe { setrlimit(MEMORY, &[memory; 2]) };
                unsafe { setrlimit(CORE, &[0; 2]) };
                limit(millis);
                return;
            }
            let mut status = 0;
            unsafe { waitpid(child, &mut status, 0) };
            note(&format!("{word} {status}\n"));
        }
        unsafe { _exit(0) };
    }
}
