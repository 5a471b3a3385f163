//! Other targets: packages are type-checked for them, and programs are built for them and run in an
//! emulator or in Node where there is one.

use crate::beside;
use crate::command::{Cmd, in_turn, rustup};
use crate::step::Tally;

/// A kind of row, its target, the programs that it needs, what it shows, and commands of cargo, see
/// [`Cmd::cargo`].
struct Target([&'static str; 4], &'static [&'static str]);

/// Some dependencies of the command and the laboratory don't compile for 32-bit targets. The
/// emulator cannot fork a program that has threads, so tests that do so are left out.
#[rustfmt::skip]
const TARGETS: &[Target] = &[
    Target(["check", "aarch64-unknown-linux-gnu", "", "type-checked only"], &[ALL, DROP_IN]),
    Target(["check", "aarch64-apple-darwin", "", "type-checked only"], &[ALL, DROP_IN]),
    Target(["check", "x86_64-pc-windows-msvc", "", "type-checked only"], &[ALL, DROP_IN]),
    Target(["check", "i686-unknown-linux-gnu", "", "type-checked only"], &[LIBRARY, DROP_IN]),
    Target(["check", "wasm32-unknown-unknown", "", "type-checked only"], &[LIBRARY, DROP_IN]),
    Target(["on", "aarch64-unknown-linux-gnu", "qemu-aarch64 aarch64-linux-gnu-gcc",
        "on an emulator whose memory order is stricter: loom shows the weak one"], &[
        "TESTKIT_RUNNER=qemu-aarch64 test --target={system} --tests -p tidegate-sync -p tidegate-deque -p tidegate-machine \
            -p tidegate-policy -p tidegate-core -- --skip in_a_child",
        "TESTKIT_RUNNER=qemu-aarch64 test --target={system} -p tidegate --lib --test small --test random_programs",
    ]),
    Target(["on", "x86_64-pc-windows-gnu", "wine x86_64-w64-mingw32-gcc-posix", "in Wine"], &[
        "test --target={system} --tests -p tidegate-sync -p tidegate-deque -p tidegate-policy -p tidegate-core",
        "test --target={system} -p tidegate-machine --lib windows",
        "test --target={system} -p tidegate --lib --test small --test random_programs --test all",
    ]),
    Target(["on", "wasm32-unknown-unknown", "node", "in Node, without threads"], &[
        "run --target={system} --locked --manifest-path examples/wasm/Cargo.toml",
    ]),
    Target(["on", "wasm32-wasip1-threads", "node", "in Node, whose workers are the threads"], &[
        "TIDEGATE_NUM_WORKERS=1 RAYON_NUM_THREADS=1 run --target={system} --locked --manifest-path examples/wasm/Cargo.toml",
        "TIDEGATE_NUM_WORKERS=2 RAYON_NUM_THREADS=2 run --target={system} --locked --manifest-path examples/wasm/Cargo.toml",
    ]),
    Target(["on", "aarch64-apple-darwin", "cargo-zigbuild", "linked, not run"], &[LINK]),
    Target(["on", "x86_64-unknown-freebsd", "cargo-zigbuild", "linked, not run"], &[LINK]),
];

const ALL: &str = "check --target={system} --all-features --workspace";
const LIBRARY: &str = "check --target={system} --all-features -p tidegate";
const DROP_IN: &str =
    "check --target={system} --all-features --locked --manifest-path crates/rayon-core/Cargo.toml";
const LINK: &str = "zigbuild --target={system} --locked --manifest-path examples/wasm/Cargo.toml";

/// How cargo links and runs programs of these targets.
const VARIABLES: &str = "\
    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER=qemu-aarch64 \
    QEMU_LD_PREFIX=/usr/aarch64-linux-gnu \
    CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=x86_64-w64-mingw32-gcc-posix \
    CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER={root}/crates/xtask/wine/run \
    WINEPREFIX={target}/xtask/wine \
    CARGO_TARGET_WASM32_WASIP1_THREADS_RUNNER={root}/examples/wasm/wasi.mjs \
    CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER={root}/examples/wasm/run.mjs \
    CARGO_TARGET_DIR={target}/xtask/cross";

pub fn run(tally: &mut Tally, kind: &str) {
    for Target([_, target, needs, detail], lines) in TARGETS.iter().filter(|it| it.0[0] == kind) {
        tally.run(&format!("{kind} {target}"), || {
            for program in needs.split_whitespace() {
                let found = Cmd::new("sh").args(["-c", &format!("command -v {program}")]);
                beside::need(found, &format!("{program} is not installed"))?;
            }
            rustup(&format!("target add {target}"))?;
            let lines = lines.iter().map(|line| line.replace("{system}", target));
            let cargo = |line| Cmd::cargo(&format!("{VARIABLES} {line}"));
            in_turn(lines.map(cargo), detail)
        });
    }
}
