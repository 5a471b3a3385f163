//! Drawings of screens of all sizes, with any text that a job may write to the table.

use super::*;
use crate::roster::JobStatus;
use crate::top::load::Load;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::time::Duration;

const SIZES: [(u16, u16); 3] = [(80, 24), (40, 10), (200, 50)];

/// Job names, some of which have unusual characters.
const NAMES: [&str; 6] = [
    "fib",
    "a name that is much longer than any column for names can be, on whatever screen",
    "\u{1b}[31mred\u{7}\n\t",
    "計算計算計算計算計算計算計算",
    "e\u{301}\u{200b}\u{202e}👩\u{200d}👩\u{200d}👧",
    "",
];

fn status(number: usize) -> JobStatus {
    JobStatus {
        pid: 1000 + number as u32,
        name: NAMES[number % NAMES.len()].into(),
        desire: number % 5,
        allotment: number % 3,
        in_use: number % 4,
        efficiency: Some((number % 1001) as u32),
        weight: 100,
        limit: 4,
        since: number as u64 * 1_000_000_000,
        cpu_time: 0,
        stalled: number % 7 == 6,
    }
}

fn load(processors: usize) -> Load {
    Load {
        processors: vec![0.5; processors],
        all: Some(0.5),
        averages: Some([1.0, 2.0, 3.0]),
    }
}

fn screen(jobs: usize, looks: usize) -> Screen {
    let mut screen = Screen::new("/run/user/0/tidegate/table.v1 (XDG_RUNTIME_DIR)".into());
    for _ in 0..looks {
        let rows = Ok((0..jobs).map(status).collect());
        screen.update(rows, load(2), Duration::from_secs(400));
    }
    screen
}

/// Returns the lines of a drawing, without trailing blanks.
fn picture(screen: &Screen, (width, height): (u16, u16)) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(screen, frame)).unwrap();
    let buffer = terminal.backend().buffer();
    let lines = (0..height).map(|y| {
        // A terminal does not show the blank in the second cell of a wide character.
        let mut hidden = 0;
        let mut line = String::new();
        for x in 0..width {
            let symbol = buffer[(x, y)].symbol();
            if hidden == 0 {
                line += symbol;
                hidden = Span::raw(symbol).width();
            }
            hidden = hidden.saturating_sub(1);
        }
        line.trim_end().to_owned()
    });
    lines.collect()
}

fn press(screen: &mut Screen, code: KeyCode, room: usize) {
    screen.press(KeyEvent::new(code, KeyModifiers::NONE), room);
}

#[test]
fn two_jobs_match_expected_picture() {
    let mut screen = Screen::new("/run/user/1000/tidegate/table.v1 (XDG_RUNTIME_DIR)".into());
    let job = |pid, name: &str, desire, allotment, efficiency| JobStatus {
        pid,
        name: name.into(),
        desire,
        allotment,
        in_use: allotment,
        efficiency,
        since: 10_000_000_000,
        stalled: false,
        ..status(0)
    };
    for allotment in [0, 1, 2, 2] {
        let rows = vec![
            job(4711, "fib", 2, allotment, Some(970)),
            job(4712, "uts", 4, 2 - allotment, None),
        ];
        screen.update(Ok(rows), load(2), Duration::from_secs(100));
    }
    let lines = picture(&screen, (80, 24));
    let expected = [
        " tidegate top   2 processors   ▄▄   50 % busy   load 1.00 2.00 3.00",
        " /run/user/1000/tidegate/table.v1 (XDG_RUNTIME_DIR)",
        " 2 jobs   desire 6   allotment 2   in use 2",
        "",
        "     pid name      desire  allotment  in use  efficiency ▼since history",
        "    4711 fib            2          2       2        97 %  1m30s ▁▄██",
        "    4712 uts            4          0       0           -  1m30s ▄▂▁▁",
    ];
    assert_eq!(lines[..7], expected);
    assert!(lines[7..23].iter().all(String::is_empty), "{lines:#?}");
    assert_eq!(
        lines[23],
        " sort by pid name desire allotment in use efficiency since   r reverse   q quit"
    );
}

#[test]
fn any_job_count_fits_any_size() {
    for jobs in [0, 1, 30, 256] {
        let screen = screen(jobs, 300);
        for size in SIZES {
            let lines = picture(&screen, size);
            let all = lines.join("\n");
            assert!(all.contains("quit") && all.contains("% busy"), "{all}");
            let pids = (0..jobs).filter(|number| all.contains(&status(*number).pid.to_string()));
            let room = room(Rect::new(0, 0, size.0, size.1)).min(jobs);
            let with_pids = size.0 > 40;
            assert_eq!(pids.count(), if with_pids { room } else { 0 }, "{all}");
        }
    }
    let mut screen = screen(30, 300);
    for width in [0, 1, 2, 7, 8, 9, 10, 17, 18, 59, 60, 61] {
        for height in 0..14 {
            picture(&screen, (width, height));
            press(&mut screen, KeyCode::End, height.into());
        }
    }
}

/// Names may contain wide or control characters.
#[test]
fn long_name_stays_in_its_column() {
    let screen = screen(NAMES.len(), 1);
    for size in SIZES {
        let lines = picture(&screen, size);
        for line in &lines {
            assert!(Span::raw(line).width() <= size.0.into(), "{line}");
            let hostile = |c: char| c.is_control() || c == '\u{202e}';
            assert!(!line.contains(hostile), "{line:?}");
        }
        // Each number must be right below its title.
        let title = lines
            .iter()
            .find(|line| line.contains("desire  allotment"))
            .unwrap();
        let end = Span::raw(&title[..title.find("desire").unwrap() + 6]).width();
        let first = lines.iter().position(|line| line == title).unwrap() + 1;
        let room = room(Rect::new(0, 0, size.0, size.1));
        for line in &lines[first..first + room.min(NAMES.len())] {
            let ends = line.char_indices().map(|(at, c)| (at + c.len_utf8(), c));
            let digit = ends.map(|(at, c)| (Span::raw(&line[..at]).width(), c));
            let digit = digit
                .filter(|(width, _)| *width >= end)
                .map(|(_, c)| c)
                .next();
            assert!(digit.is_some_and(|c| c.is_ascii_digit()), "{line}");
        }
    }
}

#[test]
fn message_replaces_the_rows() {
    let mut screen = screen(3, 2);
    screen.update(Err("no table here ".repeat(20)), load(300), Duration::ZERO);
    for size in SIZES {
        let all = picture(&screen, size).join("\n");
        assert!(
            all.contains("no table here") && all.contains("quit"),
            "{all}"
        );
        assert!(!all.contains("fib"), "{all}");
    }
    screen.update(Ok(vec![status(0)]), load(300), Duration::from_secs(1));
    let all = picture(&screen, (80, 24)).join("\n");
    assert!(all.contains("1 job ") && all.contains("fib"), "{all}");
    assert!(all.contains("300 processors   50 % busy"), "{all}");
}

/// The title of the sort column must also show the new order.
#[test]
fn keys_change_the_sort_order() {
    let mut screen = screen(5, 1);
    let pids = |screen: &Screen| -> Vec<u32> {
        let rows = screen.view.as_ref().unwrap();
        rows.iter().map(|tracked| tracked.status.pid).collect()
    };
    for (key, title, first) in [
        ('p', "▼pid", 1000),
        ('n', "name▼", 1002),
        ('d', "▼desire", 1004),
        ('a', "▼allotment", 1002),
        ('u', "▼in use", 1003),
        ('e', "▼efficiency", 1004),
        ('s', "▼since", 1000),
    ] {
        press(&mut screen, KeyCode::Char(key), 10);
        assert_eq!(pids(&screen)[0], first, "{key}");
        assert!(
            picture(&screen, (80, 24)).join("\n").contains(title),
            "{key}"
        );
    }
    press(&mut screen, KeyCode::Char('r'), 10);
    assert_eq!(pids(&screen), [1004, 1003, 1002, 1001, 1000]);
    assert!(picture(&screen, (80, 24)).join("\n").contains("▲since"));
}

#[test]
fn scrolling_stops_at_both_ends() {
    let mut screen = screen(30, 1);
    let size = (80, 24);
    let shown = |screen: &Screen| {
        let all = picture(screen, size).join("\n");
        all.lines()
            .nth(2)
            .unwrap()
            .rsplit("   ")
            .next()
            .unwrap()
            .to_owned()
    };
    let room = room(Rect::new(0, 0, size.0, size.1));
    assert_eq!(room, 17);
    for (key, expected) in [
        (KeyCode::Up, "1 to 17 shown, arrows scroll"),
        (KeyCode::Down, "2 to 18 shown, arrows scroll"),
        (KeyCode::PageDown, "14 to 30 shown, arrows scroll"),
        (KeyCode::Down, "14 to 30 shown, arrows scroll"),
        (KeyCode::Up, "13 to 29 shown, arrows scroll"),
        (KeyCode::Home, "1 to 17 shown, arrows scroll"),
        (KeyCode::End, "14 to 30 shown, arrows scroll"),
    ] {
        press(&mut screen, key, room);
        assert_eq!(shown(&screen), expected, "{key:?}");
    }
}

#[test]
fn only_known_keys_quit_or_suspend() {
    use crate::top::screen::Asked;
    let mut screen = screen(1, 1);
    let mut asked = |code, modifiers| screen.press(KeyEvent::new(code, modifiers), 10);
    let none = KeyModifiers::NONE;
    assert_eq!(asked(KeyCode::Char('q'), none), Asked::Quit);
    assert_eq!(asked(KeyCode::Esc, none), Asked::Quit);
    assert_eq!(
        asked(KeyCode::Char('c'), KeyModifiers::CONTROL),
        Asked::Quit
    );
    assert_eq!(
        asked(KeyCode::Char('z'), KeyModifiers::CONTROL),
        Asked::Stop
    );
    for code in [KeyCode::Char('c'), KeyCode::Char('z'), KeyCode::Enter] {
        assert_eq!(asked(code, none), Asked::Draw);
    }
}

/// Each job's history must also follow its job when rows move.
#[test]
fn stalled_job_is_marked() {
    let mut screen = Screen::new(String::new());
    let stalled = JobStatus {
        stalled: true,
        ..status(1)
    };
    for rows in [
        vec![status(1), status(2)],
        vec![status(2), status(3)],
        vec![status(3), stalled],
    ] {
        screen.update(Ok(rows), Load::default(), Duration::from_secs(9));
    }
    let rows = screen.view.as_ref().unwrap();
    let known: Vec<_> = rows
        .iter()
        .map(|job| (job.status.pid, job.history.len()))
        .collect();
    assert_eq!(known, [(1001, 1), (1003, 2)]);
    assert!(picture(&screen, (80, 24)).join("\n").contains("stalled"));
}

#[test]
fn totals_exclude_stalled_jobs() {
    let job = |pid, stalled| JobStatus {
        pid,
        desire: 4,
        allotment: 2,
        in_use: 1,
        stalled,
        ..status(0)
    };
    let mut screen = Screen::new(String::new());
    let rows = vec![job(1, false), job(2, true)];
    screen.update(Ok(rows), Load::default(), Duration::from_secs(9));
    let sums = &picture(&screen, (80, 24))[2];
    assert_eq!(sums, " 2 jobs   desire 4   allotment 2   in use 1");
}
