//! The web user, driven by a scripted host.

use std::sync::Arc;

use crate::common::{Fetch, Host, Outcome, by_size};
use aqmlab_traffic::distribution::{Constant, Table, whole_bytes, whole_count};
use aqmlab_traffic::web::mah::Preset;
use aqmlab_traffic::web::{User, UserModel};
use aqmlab_traffic::{Action, App, AppCx, Input};
use packet::{Duration, Instant, Rng};

const SEED: u64 = 11;

fn model(parallel: u32) -> UserModel {
    Preset::MahFit.model(parallel, 7)
}

fn user(model: &UserModel, index: u64) -> User {
    User::new(Arc::new(model.clone()), SEED, "browsers", index)
}

/// The life of user 5 over 400 pages.
fn life(
    model: &UserModel,
    script: &mut dyn FnMut(usize, &Fetch) -> Outcome,
) -> (Vec<Fetch>, Vec<Instant>) {
    let mut user = user(model, 5);
    let host = Host::run(&mut user, 400, script);
    (host.fetches, host.pages)
}

fn pages(fetches: &[Fetch]) -> impl Iterator<Item = &[Fetch]> {
    fetches.chunk_by(|a, b| a.page == b.page)
}

fn last_done(page: &[Fetch]) -> Instant {
    page.iter().map(|f| f.done).max().unwrap()
}

#[test]
fn the_first_file_comes_alone_then_at_most_c_at_once_in_order() {
    for parallel in [1, 2, 4, 64] {
        let (fetches, _) = life(&model(parallel), &mut by_size);
        let mut most = 0;
        for page in pages(&fetches) {
            assert_eq!(page[0].open, 1);
            assert!(page[1..].iter().all(|f| f.requested >= page[0].done));
            assert!(page.iter().all(|f| f.open <= parallel as usize));
            // Work-conserving: with the first file done, as many as may be are asked for at once.
            let at_once = page[1..].iter().filter(|f| f.requested == page[0].done).count();
            assert_eq!(at_once, (page.len() - 1).min(parallel as usize));
            // Each later one is asked for at the very instant another one is done.
            let freed = |f: &Fetch| page.iter().any(|other| other.done == f.requested);
            assert!(page[1..].iter().all(freed));
            most = most.max(page.iter().map(|f| f.open).max().unwrap());
        }
        let longest = pages(&fetches).map(|page| page.len() - 1).max().unwrap();
        assert_eq!(most, longest.min(parallel as usize).max(1));
    }
}

#[test]
fn what_is_drawn_comes_from_one_stream_per_variable() {
    let model = model(4);
    let (fetches, begun) = life(&model, &mut by_size);
    let stream = |variable: &str| Rng::indexed(SEED, &format!("browsers.{variable}"), 5);
    let start = model.think.mean() * stream("start").uniform();
    let mut begins = Instant::from_secs_f64(start);
    let (mut servers, mut stays, mut files) = (stream("server"), stream("pages"), stream("files"));
    let (mut requests, mut replies, mut thinks) =
        (stream("request"), stream("reply"), stream("think"));
    let (mut server, mut left) = (0, 0);
    assert_eq!(pages(&fetches).count(), 400);
    for (page, &begun) in pages(&fetches).zip(&begun) {
        assert_eq!(begun, begins);
        if left == 0 {
            server = servers.below(7) as u32;
            left = whole_count(model.pages.sample(&mut stays));
        }
        left -= 1;
        assert_eq!(page.len(), whole_count(model.files.sample(&mut files)) as usize);
        for fetch in page {
            assert_eq!(fetch.peer, server);
            assert_eq!(fetch.request, whole_bytes(model.request.sample(&mut requests), 1.0));
            assert_eq!(fetch.reply, whole_bytes(model.reply.sample(&mut replies), 1.4));
        }
        // Thinking begins with the last reply, whichever file it was.
        begins = last_done(page) + Duration::from_secs_f64(model.think.sample(&mut thinks));
    }
}

#[test]
fn a_pause_counted_from_the_page_is_over_with_it_at_the_earliest() {
    let mut model = model(4);
    model.think = Arc::new(Constant(3.0));
    model.thinks_from_page = true;
    // Every third page takes longer than the pause.
    let mut script = |_: usize, fetch: &Fetch| {
        let seconds = if fetch.page.is_multiple_of(3) { 5 } else { 1 };
        Outcome { after: Duration::from_secs(seconds), fails: false }
    };
    let (fetches, begun) = life(&model, &mut script);
    let (mut slow, mut quick) = (0, 0);
    for (page, begins) in pages(&fetches).zip(begun.windows(2)) {
        let pause = Duration::from_secs(3);
        assert_eq!(begins[1], last_done(page).max(begins[0] + pause));
        if begins[1] == begins[0] + pause { quick += 1 } else { slow += 1 }
    }
    assert!(slow >= 100 && quick >= 100, "{slow} and {quick}");
}

#[test]
fn a_failed_file_counts_as_done() {
    let model = model(4);
    let (whole, _) = life(&model, &mut by_size);
    // First files, middle ones and last ones fail in turn.
    let mut every_third = |number: usize, fetch: &Fetch| Outcome {
        fails: number.is_multiple_of(3),
        ..by_size(number, fetch)
    };
    let (torn, _) = life(&model, &mut every_third);
    assert_eq!(torn, whole, "the user goes on with the next file as after a reply");
}

#[test]
fn a_user_whose_every_file_fails_goes_on_to_the_next_pages() {
    let mut all_fail =
        |_: usize, _: &Fetch| Outcome { after: Duration::from_secs(75), fails: true };
    let (fetches, begun) = life(&model(2), &mut all_fail);
    assert_eq!(begun.len(), 400);
    let servers: Vec<u32> = fetches.iter().map(|f| f.peer).collect();
    assert!((0..7).all(|server| servers.contains(&server)), "new stays begin");
}

#[test]
fn parallelism_and_scale_leave_the_other_draws_alone() {
    let shape =
        |fetches: &[Fetch]| fetches.iter().map(|f| (f.page, f.peer, f.request)).collect::<Vec<_>>();
    let thinks = |fetches: &[Fetch], begun: &[Instant]| {
        let ends = pages(fetches).map(last_done);
        ends.zip(&begun[1..]).map(|(end, next)| next.since(end)).collect::<Vec<_>>()
    };
    let (one, one_begun) = life(&model(1), &mut by_size);
    let mut other = model(8);
    other.reply_scale = 1.0;
    let (eight, eight_begun) = life(&other, &mut by_size);
    assert_eq!(shape(&one), shape(&eight));
    assert_eq!(thinks(&one, &one_begun), thinks(&eight, &eight_begun));
    for (scaled, plain) in one.iter().zip(&eight) {
        // Both are rounded from the same draw.
        assert!((scaled.reply as f64 - 1.4 * plain.reply as f64).abs() <= 1.2 + 1.4);
    }
    // Another table of think times changes only the thinking.
    let mut slower = model(1);
    slower.think = Arc::new(Constant(3.0));
    let (slow, slow_begun) = life(&slower, &mut by_size);
    assert_eq!(shape(&slow), shape(&one));
    assert!(slow.iter().zip(&one).all(|(a, b)| a.reply == b.reply));
    assert!(thinks(&slow, &slow_begun).iter().all(|&t| t == Duration::from_secs(3)));
}

#[test]
fn lives_repeat_and_differ_between_users_seeds_and_groups() {
    let model = model(4);
    let first = |seed, group, index| {
        let mut user = User::new(Arc::new(model.clone()), seed, group, index);
        Host::run(&mut user, 20, &mut by_size).fetches
    };
    let this = first(SEED, "browsers", 5);
    assert_eq!(this, first(SEED, "browsers", 5));
    assert_ne!(this, first(SEED + 1, "browsers", 5));
    assert_ne!(this, first(SEED, "others", 5));
    assert_ne!(this, first(SEED, "browsers", 6));
}

/// What a user answers to one input, but for what it says of pages.
fn answer(user: &mut User, now: Instant, input: Input) -> Vec<Action> {
    let mut wishes = Vec::new();
    user.on(input, &mut AppCx { now, act: &mut |wish| wishes.push(wish) });
    wishes.retain(|wish| !matches!(wish, Action::PageBegins | Action::PageEnds { .. }));
    wishes
}

#[test]
fn what_comes_late_or_means_nothing_is_ignored() {
    let mut model = model(2);
    model.files = Arc::new(Constant(3.0));
    let mut user = user(&model, 0);
    let now = Instant::from_nanos(77);
    assert_eq!(answer(&mut user, now, Input::Start).len(), 1);
    assert_eq!(answer(&mut user, now, Input::Woke).len(), 2);
    assert_eq!(answer(&mut user, now, Input::Woke), [], "awake already");
    assert_eq!(answer(&mut user, now, Input::Sent { conn: 0 }), []);
    assert_eq!(answer(&mut user, now, Input::Failed { conn: 1 }), [], "never opened");
    assert_eq!(answer(&mut user, now, Input::Failed { conn: 64 }), [], "no such number");
    assert_eq!(answer(&mut user, now, Input::Replied { conn: 0 }).len(), 4);
    assert_eq!(answer(&mut user, now, Input::Replied { conn: 1 }), []);
    assert_eq!(answer(&mut user, now, Input::Failed { conn: 1 }), [], "after its reply");
    assert!(matches!(answer(&mut user, now, Input::Replied { conn: 0 })[..], [Action::WakeAt(_)]));
    assert_eq!(answer(&mut user, now, Input::Failed { conn: 0 }), [], "after its reply");
}

#[test]
fn connection_numbers_are_the_lowest_free_ones() {
    let mut model = model(3);
    model.files = Arc::new(Constant(9.0));
    let mut user = user(&model, 0);
    let opened = |wishes: Vec<Action>| -> Vec<u32> {
        let conn = |wish: &Action| match wish {
            Action::Open { conn, .. } => Some(*conn),
            _ => None,
        };
        wishes.iter().filter_map(conn).collect()
    };
    let mut notify = |input| opened(answer(&mut user, Instant::ZERO, input));
    assert_eq!(notify(Input::Start), []);
    assert_eq!(notify(Input::Woke), [0]);
    assert_eq!(notify(Input::Replied { conn: 0 }), [0, 1, 2]);
    assert_eq!(notify(Input::Replied { conn: 1 }), [1]);
    assert_eq!(notify(Input::Failed { conn: 2 }), [2]);
}

#[test]
fn starts_fill_one_mean_think_time_and_servers_are_equally_likely() {
    // 21,000 users. Five standard errors of the mean start: 5 * 72.4 / sqrt(12 * 21,000) = 0.72 s;
    // of a server's 3,000 users: 5 * sqrt(3,000 * 6 / 7) = 254.
    let model = Arc::new(model(4));
    let mean = model.think.mean();
    let (mut sum, mut served) = (0.0, [0u32; 7]);
    for index in 0..21_000 {
        let mut user = User::new(Arc::clone(&model), SEED, "browsers", index);
        let now = Instant::from_nanos(0);
        let [Action::WakeAt(start)] = answer(&mut user, now, Input::Start)[..] else { panic!() };
        assert!(start.secs_f64() <= mean);
        sum += start.secs_f64();
        let Action::Open { peer, .. } = answer(&mut user, start, Input::Woke)[0] else { panic!() };
        served[peer as usize] += 1;
    }
    assert!((sum / 21_000.0 - mean / 2.0).abs() < 0.72, "{}", sum / 21_000.0);
    assert!(served.iter().all(|&n| n.abs_diff(3_000) < 254), "{served:?}");
}

#[test]
fn users_may_draw_from_any_distribution() {
    let mut model = model(1);
    model.reply = Arc::new(Table::parse("p,bytes,k\n0,100,1\n1,200,1\n").unwrap());
    model.reply_scale = 10.0;
    let (fetches, _) = life(&model, &mut by_size);
    assert!(fetches.iter().all(|f| (1_000..=2_000).contains(&f.reply)));
}

#[test]
fn thousands_of_users_fit_in_little_memory() {
    assert!(size_of::<User>() <= 128, "{}", size_of::<User>());
}
