//! HyperQueue, with two workers.

use super::Engine;

pub const ENGINE: Engine = Engine {
    name: "hq",
    programs: &["hq"],
    options: "--cpus 2",
    pieces: [60, 600, 60],
    setup: "",
    daemons: &[
        ("server", "exec hq server start --journal journal"),
        ("worker", WORKER),
        ("worker2", WORKER),
    ],
    // A server that was started anew gives the numbers of jobs to others.
    repair: "timeout 5 hq worker wait 2; hq job info 1 || hq submit --stdout none --stderr none true",
    is_empty: "jobs=$(hq --output-mode=json job list); [ \"$jobs\" = '[]' ]",
    define: "job() { job=$(tr '\\0' '\\n' <\"/proc/$piece/environ\" | sed -n 's/^HQ_JOB_ID=//p'); }",
    faults: &[
        ("job cancelled", "job; hq job cancel $job"),
        ("worker killed", "kill -KILL $worker; sleep $pause"),
        (
            "workers killed",
            "kill -KILL $worker $worker2; sleep $pause",
        ),
        (
            "worker stopped",
            "kill -STOP $worker; sleep $pause; kill -CONT $worker",
        ),
        ("workers ended", "hq worker stop all; sleep $pause"),
        (
            "workers too small",
            "kill -KILL $worker $worker2; hq worker start --cpus 1 & sleep $pause; kill $!",
        ),
        ("server killed", "kill -KILL $server; sleep $pause"),
        (
            "server killed without journal",
            "kill -KILL $server; rm journal; sleep $pause",
        ),
    ],
};

/// Without a server, a worker would look for it at its old address for minutes.
const WORKER: &str = "hq server info; exec hq worker start --cpus 2";
