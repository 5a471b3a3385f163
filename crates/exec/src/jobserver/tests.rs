use tidegate_machine::Machine;
use tidegate_share::{Location, Name, Seat};
use tidegate_testkit::eventually;

use super::fifo::{Fifo, is_usable};
use super::losses::{Family, most_held_below};
use super::{Server, Tokens, add_flags, is_old};
use crate::seat::Place;
use crate::serve;

/// Tokens without the server's thread.
fn tokens(jobs: usize) -> Tokens {
    let mut tokens = Tokens::new(Fifo::create().unwrap());
    tokens.allow(jobs);
    tokens
}

mod allowing {
    use super::*;

    /// A quick client takes all tokens before the first look at the program.
    #[test]
    fn begins_with_the_programs_processors() {
        let folder = tempfile::tempdir().unwrap();
        let location = Location::at(folder.path().join("table"));
        let place = Place {
            seat: Seat::take(&location, &Name::new("make")).unwrap(),
            location,
            machine: Machine::read(),
            threads: 2,
            reason: String::new(),
        };
        for (place, jobs, free) in [(Some(&place), 64, 1), (Some(&place), 1, 0), (None, 64, 63)] {
            let server = serve(jobs, place, false).unwrap();
            assert_eq!(server.tokens().fifo.count(), free);
        }
    }

    #[test]
    fn changes_the_free_tokens() {
        let mut tokens = tokens(4);
        assert_eq!(tokens.fifo.count(), 3);
        tokens.allow(2);
        assert_eq!(tokens.fifo.count(), 1);
        tokens.allow(6);
        assert_eq!(tokens.fifo.count(), 5);
        tokens.allow(0);
        assert_eq!(tokens.fifo.count(), 0);
    }

    #[test]
    fn waits_for_tokens_of_clients() {
        let server = Server::start(4, false).unwrap();
        assert_eq!(server.tokens().fifo.take(3), 3);
        server.allow(2);
        assert_eq!(server.tokens().circulating, 3);
        for left in [2, 1] {
            server.tokens().fifo.put(1);
            eventually("all circulate", || server.tokens().circulating == left);
            assert_eq!(server.tokens().fifo.count(), 0);
        }
        server.tokens().fifo.put(1);
        server.allow(2);
        assert_eq!(server.tokens().fifo.count(), 1);
    }

    #[test]
    fn more_cancels_what_clients_owe() {
        let mut tokens = tokens(4);
        assert_eq!(tokens.fifo.take(3), 3);
        tokens.allow(2);
        tokens.allow(5);
        assert_eq!(tokens.fifo.count(), 1);
    }
}

mod losses {
    use super::*;

    #[test]
    fn are_replaced() {
        let mut tokens = tokens(4);
        assert_eq!(tokens.fifo.take(3), 3);
        for free in [0, 0, 2] {
            tokens.look(3, 1);
            tokens.settle();
            assert_eq!(tokens.fifo.count(), free);
        }
    }

    #[test]
    fn are_not_what_processes_could_hold() {
        let mut tokens = tokens(4);
        assert_eq!(tokens.fifo.take(3), 3);
        for held in [0, 0, 3, 0, 0, 3] {
            tokens.look(3, held);
            tokens.settle();
            assert_eq!(tokens.fifo.count(), 0);
        }
    }

    /// A client may have taken them, and started their jobs, since its processes were counted.
    #[test]
    fn are_not_what_was_free_before() {
        let mut tokens = tokens(4);
        assert_eq!(tokens.fifo.take(3), 3);
        (0..3).for_each(|_| tokens.look(0, 0));
        assert_eq!(tokens.circulating, 3);
    }

    #[test]
    fn lower_what_clients_owe() {
        let mut tokens = tokens(4);
        assert_eq!(tokens.fifo.take(3), 3);
        tokens.allow(1);
        (0..3).for_each(|_| tokens.look(3, 1));
        assert_eq!(tokens.circulating, 1);
    }

    #[test]
    fn found_again_are_removed() {
        let mut tokens = tokens(3);
        assert_eq!(tokens.fifo.take(2), 2);
        (0..3).for_each(|_| tokens.look(2, 0));
        tokens.settle();
        assert_eq!(tokens.fifo.put(2), 2);
        assert_eq!(tokens.fifo.count(), 4);
        tokens.look(0, 0);
        tokens.settle();
        assert_eq!(tokens.fifo.count(), 2);
    }

    #[test]
    fn leave_a_token_for_each_further_child_or_thread() {
        // A command with a thread of its own, `make` with two jobs, one of which has a compiler
        // with three threads below it, and a process of another program.
        let all = [
            (1, 0, 9),
            (2, 1, 2),
            (3, 2, 1),
            (4, 3, 1),
            (5, 3, 1),
            (6, 5, 3),
            (7, 1, 5),
        ];
        let family = |pid| {
            let (_, _, threads) = all.into_iter().find(|(own, ..)| *own == pid)?;
            let children = all.into_iter().filter(|(_, parent, _)| *parent == pid);
            let children = children.map(|(child, ..)| child).collect();
            Some(Family { threads, children })
        };
        assert_eq!(most_held_below(2, family), 3);
        assert_eq!(most_held_below(6, family), 0);
    }

    /// Such as those of another user, if `/proc` hides them.
    #[test]
    fn are_none_with_unreadable_processes() {
        let family = |pid| match pid {
            1 => Some(Family {
                threads: 1,
                children: vec![2, 3],
            }),
            2 => Some(Family::unreadable()),
            _ => Some(Family {
                threads: 3,
                children: vec![],
            }),
        };
        assert_eq!(most_held_below(1, family), usize::MAX);
    }
}

mod flags {
    use super::*;

    #[test]
    fn of_the_user_are_kept() {
        assert_eq!(add_flags("", "X"), "-j X");
        assert_eq!(add_flags("k -j8", "X"), "k -j8 -j X");
        assert_eq!(add_flags("k -- A=b", "X"), "k -j X -- A=b");
        assert_eq!(add_flags("-- A=b", "X"), "-j X -- A=b");
    }

    #[test]
    fn name_descriptors_to_old_versions() {
        for old in [
            "GNU Make 4.3\nBuilt for",
            "GNU Make 3.81\n",
            "GNU Make 4.2.1\n",
        ] {
            assert!(is_old(old), "{old}");
        }
        for new in [
            "GNU Make 4.4\n",
            "GNU Make 4.10.1",
            "GNU Make 5.0",
            "bmake",
            "",
        ] {
            assert!(!is_old(new), "{new}");
        }
    }
}

#[test]
fn folder_must_fit_into_flags() {
    assert!(is_usable("/var/tmp"));
    for folder in ["", "tmp", "./tmp", "/a b", "/a\tb"] {
        assert!(!is_usable(folder), "{folder}");
    }
}

#[test]
fn server_removes_its_fifo() {
    let server = Server::start(2, false).unwrap();
    let path = server.tokens().fifo.path().to_owned();
    assert!(std::fs::exists(&path).unwrap());
    drop(server);
    assert!(!std::fs::exists(&path).unwrap());
}
