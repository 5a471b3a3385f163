//! Checks the programs' dags against known properties of the programs.

use tidegate_sim::{Costs, Job, Settings, Width, WorkSpan, run_mix};
use tidegate_workloads::factors::cholesky::Cholesky;
use tidegate_workloads::factors::lu::Lu;
use tidegate_workloads::factors::sparselu::Sparselu;
use tidegate_workloads::fft::Fft;
use tidegate_workloads::fib::Fib;
use tidegate_workloads::intervals::layers::Layers;
use tidegate_workloads::intervals::wavefront::Wavefront;
use tidegate_workloads::knary::Knary;
use tidegate_workloads::loopy::Loopy;
use tidegate_workloads::phases::{First, Phases};
use tidegate_workloads::prefixsum::Prefixsum;
use tidegate_workloads::program::Form;
use tidegate_workloads::quicksort::Quicksort;
use tidegate_workloads::registry::ENTRIES;
use tidegate_workloads::seriesparallel::Seriesparallel;
use tidegate_workloads::treesum::Treesum;
use tidegate_workloads::uts::Uts;
use tidegate_workloads::{Given, Simulated, Size, find_simulated};

fn extent(program: &impl Simulated) -> WorkSpan {
    WorkSpan::of(&program.dag())
}

/// The critical path of `fib(n)` has n tasks.
#[test]
fn fib_has_one_task_per_call() {
    let [mut this, mut next] = [1, 1];
    for n in 0..20 {
        let calls = 2 * this - 1;
        let found = extent(&Fib::new(n));
        assert_eq!((found.tasks, found.work), (calls, calls));
        assert_eq!(found.span, u64::from(n.max(1)));
        [this, next] = [next, this + next];
    }
}

#[test]
fn loopy_span_is_one_subtask() {
    for form in [Form::Spawn, Form::Join] {
        let WorkSpan { work, span, .. } = extent(&Loopy {
            n: 64,
            steps: 3_000_000,
            form,
        });
        assert_eq!((work, span), (64 * 5_000_000, 5_000_000));
    }
}

#[test]
fn knary_chain_is_its_serial_children() {
    let node = 100 * 5 / 3;
    let shapes = [(4, 0), (4, 1), (4, 2), (4, 3), (4, 4), (1, 0), (5, 0)];
    let both = |(k, r)| [Form::Join, Form::Spawn].map(|form| Knary { n: 5, k, r, form });
    for knary in shapes.into_iter().flat_map(both) {
        let Knary { k, r, .. } = knary;
        let WorkSpan { work, span, .. } = extent(&knary);
        let nodes: u64 = (0..5).map(|level| u64::from(k).pow(level)).sum();
        assert_eq!(work, nodes * node, "{k} {r}");
        // Only one of the children that run in parallel is on the critical path.
        let chain = u64::from(r + u32::from(r < k));
        let chain: u64 = (0..5).map(|level| chain.pow(level)).sum();
        assert_eq!(span, chain * node, "{k} {r}");
    }
}

#[test]
fn treesum_forks_at_every_node() {
    for nodes in [1, 2, 3, 1_000, 1_023] {
        let found = extent(&Treesum { nodes });
        let work = 2 * nodes as u64;
        assert_eq!((found.tasks, found.work), (work + 1, work));
        assert_eq!(
            found.span,
            2 * u64::from(usize::BITS - nodes.leading_zeros())
        );
    }
}

#[test]
fn both_uts_forms_have_equal_trees() {
    let uts = Uts::named("tiny").unwrap();
    let work: Vec<_> = [Form::Join, Form::Spawn]
        .into_iter()
        .map(|form| extent(&Uts { form, ..uts }))
        .map(|extent| (extent.work, extent.span))
        .collect();
    assert_eq!(work[0], work[1]);
    assert_eq!(work[0].0 % 3987, 0);
    let node = work[0].0 / 3987;
    assert_eq!(work[0].1, 6 * node);
}

/// In each round, the critical path has the serial phase, its wait, and one parallel task.
#[test]
fn phases_span_is_their_serial_chain() {
    for first in [First::Serial, First::Parallel] {
        let found = extent(&Phases {
            rounds: 3,
            serial: 3_000,
            wait: 7,
            parallel: 24_000,
            tasks: 8,
            first,
        });
        assert_eq!(found.tasks, 1 + 3 * 15);
        assert_eq!(found.work, 3 * (5_000 + 40_000));
        assert_eq!(found.span, 3 * (7_000_000 + 5_000 + 5_000));
    }
}

#[test]
fn series_parallel_span_follows_its_mix() {
    let of = |parallel| {
        extent(&Seriesparallel {
            n: 1_000,
            parallel,
            steps: 300,
            seed: 5,
        })
    };
    let [chain, mixed, none] = [0, 70, 100].map(of);
    assert_eq!(chain.span, chain.work);
    // If all parts run in parallel, the span is the longest leaf.
    assert!((490..=500).contains(&none.span), "{}", none.span);
    assert!(mixed.span > 4 * none.span && mixed.work > 4 * mixed.span);
    for found in [chain, mixed, none] {
        assert_eq!(found.tasks, 2 * 1_000 - 1);
        assert!((200..300).contains(&(found.work / 1_000)));
    }
}

/// The dag has a root and one task per block.
#[test]
fn wavefront_chain_follows_two_edges() {
    for (n, block, blocks) in [(96, 32, 3), (1, 1, 1), (7, 7, 1), (40, 1, 40)] {
        let found = extent(&Wavefront { n, block, seed: 1 });
        assert_eq!(found.tasks, 1 + blocks * blocks);
        assert_eq!(found.work, 2 * (n * n) as u64);
        assert_eq!(found.span, (2 * blocks - 1) * 2 * (block * block) as u64);
    }
    // The last row and the last column of blocks are only 4 letters wide.
    let found = extent(&Wavefront {
        n: 100,
        block: 32,
        seed: 1,
    });
    assert_eq!((found.tasks, found.work), (17, 20_000));
    assert_eq!(found.span, 2 * (5 * 32 * 32 + 32 * 4 + 4 * 4));
}

/// The dag has a root, one task per layer and one task per interval.
#[test]
fn layers_wait_for_their_predecessors() {
    for (layers, width, edges) in [(1, 1, 0), (5, 1, 1), (1, 9, 3), (30, 12, 2), (30, 12, 0)] {
        let graph = Layers {
            layers,
            width,
            edges,
            steps: 500,
            seed: 9,
        };
        let found = extent(&graph);
        assert_eq!(found.tasks, 1 + layers + layers * width);
        let alone = extent(&Layers { edges: 0, ..graph });
        assert_eq!(found.work, alone.work);
        assert!(found.span >= alone.span && found.span < found.work + 1);
        assert!(found.drafts);
    }
}

#[test]
fn quicksort_unfolds_deterministically() {
    let dag = Quicksort {
        n: 10_000,
        cutoff: 16,
        seed: 1,
    }
    .dag();
    let extent = WorkSpan::of(&dag);
    assert_eq!(WorkSpan::of(&dag), extent);
    assert!(extent.tasks > 10_000 / 16);
    assert!(extent.span > 2 * 10_000 && extent.span < extent.work / 4);
}

/// At each level, the critical path splits and combines `cutoff` elements without forks.
#[test]
fn fft_passes_twice_at_every_level() {
    let cutoff = 4096;
    // A pass over `cutoff` elements takes 10 ns per 14 elements. Their serial transform has twelve
    // levels, each of which takes 10 ns per 12 elements.
    let (pass, transform) = (2_925, 40_960);
    for levels in 0..5 {
        let leaves = 1 << levels;
        let WorkSpan { work, span, .. } = extent(&Fft {
            n: leaves * cutoff,
            cutoff,
            seed: 1,
        });
        assert_eq!(span, levels * 2 * pass + transform);
        assert_eq!(work, leaves as u64 * span);
    }
}

/// The critical path has one block in each of the two passes.
#[test]
fn prefix_sums_wait_for_two_blocks() {
    for (n, last) in [(100, 25 + 31), (1_000, 25 + 31), (1_050, 13 + 16)] {
        let block = 100;
        let WorkSpan { work, span, .. } = extent(&Prefixsum { n, block, seed: 1 });
        let blocks = n.div_ceil(block) as u64;
        assert_eq!(span, 25 + 31);
        assert_eq!(work, (blocks - 1) * (25 + 31) + last);
    }
}

/// The span consists mainly of the panels, which are factored one after the other.
#[test]
fn lu_multiplies_as_elimination_does() {
    let lu = |side| {
        let (n, seed) = (1024, 1);
        extent(&Lu { n, side, seed })
    };
    // The work is n^3 / 3 multiplications, of which 5.2 take a nanosecond, plus the row exchanges.
    let WorkSpan { work, span, .. } = lu(32);
    let multiplied = work as f64 * 5.2 / (1024_f64.powi(3) / 3.0);
    assert!((1.0..1.05).contains(&multiplied), "{multiplied}");
    assert!((20..50).contains(&(work / span)), "{work} {span}");
    let WorkSpan { work, span, .. } = lu(1024);
    assert_eq!(work, span);
}

/// In each step but the last, the critical path has the diagonal block and one block of each loop.
#[test]
fn sparselu_chain_has_every_loop() {
    for blocks in [1, 2, 9, 50] {
        let WorkSpan { span, .. } = extent(&Sparselu { blocks, side: 60 });
        let product = 27_000;
        let loops = product / 2 + product;
        let blocks = blocks as u64;
        assert_eq!(span, blocks * (product / 3) + (blocks - 1) * loops);
    }
}

/// The blocks of a diagonal matrix are independent; those of a full matrix wait for each other.
#[test]
fn diagonal_matrix_is_factored_in_parallel() {
    let of = |nonzeros| {
        let (n, seed) = (256, 1);
        extent(&Cholesky { n, nonzeros, seed })
    };
    let WorkSpan { work, span, .. } = of(0);
    assert_eq!(work, 16 * span);
    let (diagonal, full) = (span, of(60_000));
    assert!(full.span > 16 * diagonal && full.work > 4 * full.span);
}

/// On one processor without scheduling costs, a simulated run takes as long as the work of the dag.
#[test]
fn one_costless_processor_takes_the_work() {
    let settings = Settings {
        costs: Costs::NONE,
        ..Settings::new(1)
    };
    for entry in ENTRIES.iter().filter(|entry| entry.simulated) {
        let program = find_simulated(entry.name, Size::Tiny, &Given::default()).unwrap();
        let walked = WorkSpan::of(&*program.slowed(1.0));
        let dag = program.slowed(1.0);
        let job = Job {
            dag: &*dag,
            arrives: 0,
            width: Width::Fixed(1),
        };
        let outcome = run_mix(&settings, &[job], &mut |_, _| {}).unwrap();
        let job = &outcome.jobs[0];
        assert_eq!(job.time(), job.work);
        let ran = WorkSpan {
            tasks: job.counters.tasks,
            work: job.work,
            span: job.span,
            peak_bytes: job.peak_bytes,
            // The outcome of a run lacks the other figures.
            ..walked
        };
        assert_eq!(walked, ran, "{}", entry.name);
        assert!(walked.work > 0 && walked.span <= walked.work);
    }
}

#[test]
fn unsimulated_program_error_lists_simulated_ones() {
    let error = find_simulated("digest", Size::Tiny, &Given::default())
        .err()
        .unwrap()
        .to_string();
    let (_, told) = error.rsplit_once(": expected ").unwrap();
    let simulated = ENTRIES.iter().filter(|entry| entry.simulated);
    assert!(
        told.split(", ").eq(simulated.map(|entry| entry.name)),
        "{error}"
    );
}
