//! Builds programs for other systems, and runs them in an emulator or in Node where there is one.

use crate::beside;
use crate::command::{Cmd, in_turn, rustup};
use crate::step::Tally;

/// A target, the programs that it needs, what the row shows, and commands of cargo, see
/// [`Cmd::cargo`].
struct System(
    &'static str,
    &'static str,
    &'static str,
    &'static [&'static str],
);

/// The emulator cannot fork a program that has threads, so tests that do so are left out.
#[rustfmt::skip]
const SYSTEMS: &[System] = &[
    System("aarch64-unknown-linux-gnu", "qemu-aarch64 aarch64-linux-gnu-gcc",
        "on an emulator whose memory order is stricter: loom shows the weak one", &[
        "TESTKIT_RUNNER=qemu-aarch64 test --target={system} --tests -p tidegate-sync -p tidegate-deque -p tidegate-machine \
            -p tidegate-policy -p tidegate-core -- --skip in_a_child",
        "TESTKIT_RUNNER=qemu-aarch64 test --target={system} -p tidegate --lib --test small --test random_programs",
    ]),
    System("x86_64-pc-windows-gnu", "wine x86_64-w64-mingw32-gcc-posix", "in Wine", &[
        "test --target={system} --tests -p tidegate-deque -p tidegate-policy -p tidegate-core",
        "test --target={system} -p tidegate --lib --test small --test random_programs",
    ]),
    System("wasm32-unknown-unknown", "node", "in Node, without threads", &[
        "run --target={system} --locked --manifest-path examples/wasm/Cargo.toml",
    ]),
    System("aarch64-apple-darwin", "cargo-zigbuild", "linked, not run", &[
        "zigbuild --target={system} --locked --manifest-path examples/wasm/Cargo.toml",
    ]),
    System("x86_64-unknown-freebsd", "cargo-zigbuild", "linked, not run", &[
        "zigbuild --target={system} --locked --manifest-path examples/wasm/Cargo.toml",
    ]),
];

/// How cargo links and runs programs of these targets.
const VARIABLES: &str = "\
    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER=qemu-aarch64 \
    QEMU_LD_PREFIX=/usr/aarch64-linux-gnu \
    CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=x86_64-w64-mingw32-gcc-posix \
    CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER={root}/crates/xtask/wine/run \
    WINEPREFIX={target}/xtask/wine \
    CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER={root}/examples/wasm/run.mjs \
    CARGO_TARGET_DIR={target}/xtask/cross";

pub fn run(tally: &mut Tally) {
    for System(target, needs, detail, lines) in SYSTEMS {
        tally.run(&format!("on {target}"), || {
            for program in needs.split(' ') {
                let found = Cmd::new("sh").args(["-c", &format!("command -v {program}")]);
                beside::need(found, &format!("{program} is not installed"))?;
            }
            rustup(&format!("target add {target}"))?;
            let commands = lines
                .iter()
                .map(|line| Cmd::cargo(&format!("{VARIABLES} {line}").replace("{system}", target)));
            in_turn(commands, detail)
        });
    }
}
