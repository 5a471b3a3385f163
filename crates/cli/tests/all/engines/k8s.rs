//! Kubernetes, with one node: real but for the scheduler and the kubelet, for which
//! [`node_runs_the_pods`] stands.

use std::env;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use super::Engine;

pub const ENGINE: Engine = Engine {
    name: "k8s",
    programs: &[
        "etcd",
        "kube-apiserver",
        "kube-controller-manager",
        "kubectl",
        "openssl",
    ],
    options: "--image image --claim claim:/",
    pieces: [40, 100, 40],
    setup: SETUP,
    daemons: &[
        (
            "etcd",
            "exec etcd --data-dir etcd --listen-peer-urls http://127.0.0.1:0 \
             --listen-client-urls http://127.0.0.1:$port \
             --advertise-client-urls http://127.0.0.1:$port",
        ),
        (
            "apiserver",
            "exec kube-apiserver --etcd-servers http://127.0.0.1:$port --bind-address 127.0.0.1 \
             --secure-port $port2 --cert-dir certificates --token-auth-file tokens \
             --authorization-mode AlwaysAllow --disable-admission-plugins ServiceAccount \
             --service-account-issuer https://localhost --service-account-key-file key \
             --service-account-signing-key-file key",
        ),
        (
            "manager",
            "kubectl get --raw /readyz; exec kube-controller-manager --kubeconfig kubeconfig \
             --leader-elect=false --secure-port 0 --controllers job-controller,\
             ttl-after-finished-controller,garbage-collector-controller,pod-garbage-collector-controller",
        ),
        ("proxy", "rm -f proxy; exec kubectl proxy --unix-socket proxy"),
        (
            "node",
            "export NODE=n; exec $this --ignored --nocapture --exact engines::k8s::node_runs_the_pods",
        ),
    ],
    repair: REPAIR,
    is_empty: "\
jobs=$(kubectl get jobs -o jsonpath='{.items[?(@.status.active>0)].metadata.name}')
pods=$(kubectl get pods -o name --field-selector=status.phase!=Succeeded,status.phase!=Failed)
[ -z \"$jobs$pods\" ]",
    define: "\
pod() {
    pod=$(tr '\\0' '\\n' <\"/proc/$piece/environ\" | sed -n 's/^POD=//p')
    [ $pod ]
    job=${pod%-*-*}
}
suspend() { kubectl patch job $job -p '{\"spec\":{\"suspend\":'$1'}}'; }",
    faults: &[
        ("pod deleted", "pod; kubectl delete pod $pod --wait=false"),
        (
            "pod deleted by force",
            "pod; kubectl delete pod $pod --force --grace-period=0 --wait=false",
        ),
        (
            "pod evicted",
            "pod
             echo '{\"kind\":\"Eviction\",\"apiVersion\":\"policy/v1\",\"metadata\":{\"name\":\"'$pod'\"}}' |
                 kubectl create --raw /api/v1/namespaces/default/pods/$pod/eviction -f -",
        ),
        (
            "Job suspended",
            "pod; suspend true; sleep $pause; suspend false || :",
        ),
        ("Job deleted", "pod; kubectl delete job $job --wait=false"),
        (
            "Job orphaned",
            "pod; kubectl delete job $job --cascade=orphan --wait=false",
        ),
        ("node cordoned", "kubectl cordon n; sleep $pause"),
        (
            "node drained",
            "timeout 10 kubectl drain n --force || :; sleep $pause",
        ),
        ("node killed", "kill -KILL $node; sleep $pause"),
        ("apiserver killed", "kill -KILL $apiserver; sleep $pause"),
        ("manager killed", "kill -KILL $manager; sleep $pause"),
        // After a long time without etcd, the API server rarely tries to connect to it.
        (
            "etcd killed",
            "kill -KILL $etcd; sleep $pause; [ ${pause%.*} -lt 9 ] || kill -KILL $apiserver",
        ),
        (
            "cluster lost",
            "kill -KILL $etcd $apiserver $manager; rm -r etcd; sleep $pause",
        ),
    ],
};

const REPAIR: &str = "\
timeout 5 kubectl get --raw /readyz
kubectl uncordon n
for job in $(kubectl get jobs -o jsonpath='{.items[?(@.spec.suspend==true)].metadata.name}'); do
    kubectl patch job $job -p '{\"spec\":{\"suspend\":false}}'
done";

const SETUP: &str = "\
mkdir pods
openssl genrsa -out key 2048
echo 'token,admin,admin,system:masters' >tokens
cat >kubeconfig <<END
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: 'https://127.0.0.1:$port2', insecure-skip-tls-verify: true}}]
users: [{name: u, user: {token: token}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
END";

/// How many pods run at once.
const ROOM: usize = 2;

/// Runs a container in the background, where it outlives the node.
const SHIM: &str = r#"
mkdir "$0"
{
    "$@" &
    echo $! >"$0/pid"
    wait $! && code=0 || code=$?
    echo "$code $(date -u +%FT%TZ)" >"$0/new"
    mv "$0/new" "$0/code"
} &"#;

/// Does what a scheduler and a kubelet do: gives pods to the node, runs their containers, and reports
/// how they end. `pods/UID` has the container's process and exit code.
#[test]
#[ignore = "a daemon of the soak fan-k8s"]
fn node_runs_the_pods() {
    while env::var_os("NODE").is_some() {
        sleep(Duration::from_millis(100));
        let Some(node) = ask("GET", "nodes/n", &Value::Null) else {
            ask("POST", "nodes", &json!({ "metadata": { "name": "n" } }));
            continue;
        };
        let Some(pods) = ask("GET", "namespaces/default/pods", &Value::Null) else {
            continue;
        };
        let pods: Vec<_> = pods["items"]
            .as_array()
            .expect("pods")
            .iter()
            .map(Pod)
            .collect();
        let is_here = |pod: &&Pod| pod.0["spec"]["nodeName"] == "n" && !pod.has_ended();
        let mut room = ROOM.saturating_sub(pods.iter().filter(is_here).count());
        if node["spec"]["unschedulable"] == true {
            room = 0;
        }
        for pod in &pods {
            pod.advance(&mut room);
        }
        for folder in fs::read_dir("pods").expect("a folder").flatten() {
            let name = folder.file_name();
            if pods.iter().all(|pod| pod.text("/metadata/uid") != name) {
                end(&folder.path());
            }
        }
    }
}

struct Pod<'a>(&'a Value);

impl Pod<'_> {
    fn advance(&self, room: &mut usize) {
        let is_deleted = self.0["metadata"]["deletionTimestamp"].is_string();
        if self.has_ended() {
            if is_deleted && self.0["metadata"]["deletionGracePeriodSeconds"] != 0 {
                ask(
                    "DELETE",
                    &self.path(""),
                    &json!({ "gracePeriodSeconds": 0 }),
                );
            }
            return;
        }
        if self.0["spec"]["nodeName"].is_null() {
            if !is_deleted {
                self.bind(room);
            }
            return;
        }
        let folder = env::current_dir().expect("a folder");
        let folder = folder.join("pods").join(self.text("/metadata/uid"));
        if let Ok(end) = fs::read_to_string(folder.join("code")) {
            let (code, time) = end.trim().split_once(' ').expect("a code and a time");
            let phase = if code == "0" { "Succeeded" } else { "Failed" };
            let code: u8 = code.parse().expect("a code");
            let state = json!({ "terminated": { "exitCode": code, "finishedAt": time } });
            self.report(phase, &state);
        } else if !folder.exists() {
            if is_deleted {
                self.patch(&json!({ "phase": "Failed" }));
            } else {
                self.start(&folder);
            }
        } else if is_deleted {
            end(&folder);
        } else if self.text("/status/phase") == "Pending" {
            self.report("Running", &json!({ "running": {} }));
        }
    }

    fn bind(&self, room: &mut usize) {
        if *room > 0 {
            *room -= 1;
            let target = json!({ "kind": "Node", "name": "n" });
            let metadata = json!({ "name": self.text("/metadata/name") });
            let binding = json!({ "metadata": metadata, "target": target });
            ask("POST", &self.path("/binding"), &binding);
        } else if self.0["status"]["conditions"].is_null() {
            let condition = json!({
                "type": "PodScheduled",
                "status": "False",
                "reason": "Unschedulable",
                "message": "0/1 nodes are available",
            });
            self.patch(&json!({ "conditions": [condition] }));
        }
    }

    fn start(&self, folder: &Path) {
        let container = &self.0["spec"]["containers"][0];
        let words = container["command"].as_array().expect("a command");
        let words = words.iter().map(|it| it.as_str().expect("text"));
        let mut command = Command::new("sh");
        command.args(["-euc", SHIM]).arg(folder);
        command.args(words.map(|word| word.replace("$$", "$")));
        for variable in container["env"].as_array().expect("variables") {
            let field = &variable["valueFrom"]["fieldRef"]["fieldPath"];
            let label = field.as_str().expect("a field");
            let label = label.strip_prefix("metadata.labels['").expect("a label");
            let value = &self.0["metadata"]["labels"][label.trim_end_matches("']")];
            let name = variable["name"].as_str().expect("a name");
            command.env(name, value.as_str().expect("a value"));
        }
        command
            .env("POD", self.text("/metadata/name"))
            .current_dir("/");
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.status().expect("a shell");
    }

    fn report(&self, phase: &str, state: &Value) {
        let is_running = phase == "Running";
        let container = json!({
            "name": "piece",
            "image": "image",
            "imageID": "image",
            "ready": is_running,
            "restartCount": 0,
            "state": state,
        });
        let ready = if is_running { "True" } else { "False" };
        let status = json!({
            "phase": phase,
            "conditions": [{ "type": "Ready", "status": ready }],
            "containerStatuses": [container],
        });
        self.patch(&status);
    }

    fn patch(&self, status: &Value) {
        ask("PATCH", &self.path("/status"), &json!({ "status": status }));
    }

    fn has_ended(&self) -> bool {
        ["Succeeded", "Failed"].contains(&self.text("/status/phase"))
    }

    fn path(&self, part: &str) -> String {
        let name = self.text("/metadata/name");
        format!("namespaces/default/pods/{name}{part}")
    }

    fn text(&self, pointer: &str) -> &str {
        let text = self.0.pointer(pointer).and_then(Value::as_str);
        text.unwrap_or_default()
    }
}

/// Kills a container, if it has started and not ended.
fn end(folder: &Path) {
    let pid = fs::read_to_string(folder.join("pid")).unwrap_or_default();
    if let (Ok(pid), false) = (pid.trim().parse(), folder.join("code").exists()) {
        let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
    }
}

/// Sends a request to the API server. Returns the answer, unless it is an error.
fn ask(method: &str, path: &str, body: &Value) -> Option<Value> {
    let mut stream = UnixStream::connect("proxy").ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    let body = body.to_string();
    let size = body.len();
    let kind = match method {
        "PATCH" => "application/strategic-merge-patch+json",
        _ => "application/json",
    };
    let head = format!("Host: localhost\r\nContent-Type: {kind}\r\nContent-Length: {size}");
    write!(
        stream,
        "{method} /api/v1/{path} HTTP/1.0\r\n{head}\r\n\r\n{body}"
    )
    .ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    if head.split(' ').nth(1)?.starts_with('2') {
        return serde_json::from_str(body).ok();
    }
    eprintln!("{method} {path}: {body}");
    None
}
