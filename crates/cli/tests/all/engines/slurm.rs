//! Slurm, with one node.

use super::Engine;

pub const ENGINE: Engine = Engine {
    name: "slurm",
    programs: &["munged", "slurmctld", "slurmd", "sbatch"],
    options: "",
    pieces: [24, 24, 24],
    setup: SETUP,
    daemons: &[
        (
            "munged",
            "exec munged -F --key-file=munge.key --socket=munge/socket --pid-file=munge/pid \
             --log-file=munge/log --seed-file=munge/seed --force",
        ),
        ("slurmctld", "exec slurmctld -D"),
        ("slurmd", "exec slurmd -D -N n"),
    ],
    repair: REPAIR,
    is_empty: "queue=$(squeue -h); [ -z \"$queue\" ]",
    define: "\
of() { tr '\\0' '\\n' <\"/proc/$piece/environ\" | sed -n \"s/^$1=//p\"; }
element() { array=$(of SLURM_ARRAY_JOB_ID); [ $array ]; element=${array}_$(of SLURM_ARRAY_TASK_ID); }
requeue() { element; scontrol update JobId=$element Requeue=1; scontrol $1 $element; }",
    faults: &[
        ("element cancelled", "element; scancel $element"),
        ("array cancelled", "element; scancel $array"),
        (
            "element requeued",
            "requeue requeue; sleep $pause; scontrol update JobId=$element StartTime=now || :",
        ),
        (
            "element requeued and held",
            "requeue requeuehold; sleep $pause; scontrol release $element || :",
        ),
        (
            "array held",
            "element; scontrol hold $array; sleep $pause; scontrol release $array || :",
        ),
        (
            "element suspended",
            "element; scontrol suspend $element; sleep $pause; scontrol resume $element",
        ),
        // A stopped piece does not end before its time limit.
        (
            "time limit",
            "element; kill -STOP $piece; scontrol update JobId=$element EndTime=now",
        ),
        ("slurmd killed", "kill -KILL $slurmd; sleep $pause"),
        ("slurmctld killed", "kill -KILL $slurmctld; sleep $pause"),
        ("munged killed", "kill -KILL $munged; sleep $pause"),
        (
            "node drained",
            "scontrol update NodeName=n State=DRAIN Reason=soak; sleep $pause",
        ),
        (
            "node down",
            "scontrol update NodeName=n State=DOWN Reason=soak; sleep $pause",
        ),
    ],
};

/// Slurm lets an element wait for two minutes after it was requeued. A controller that was killed may
/// believe for long that an element runs, unless it is configured anew.
const REPAIR: &str = "\
scontrol update NodeName=n State=RESUME || :
waiting=$(squeue -h -r -t pending -o '%i %r' | grep -iE 'held|BeginTime' | cut -d ' ' -f 1)
for element in $waiting; do
    scontrol release $element
    scontrol update JobId=$element StartTime=now
done
scontrol reconfigure
sinfo -h -o %T | grep -E 'idle|mixed|allocated'";

/// In every second round, an array has fewer elements than there are items.
const SETUP: &str = "\
mkdir state spool munge
head -c 128 /dev/urandom >munge.key
chmod 600 munge.key
echo CgroupPlugin=cgroup/v1 >cgroup.conf
cat >slurm.conf <<END
ClusterName=soak
SlurmctldHost=localhost
SlurmctldPort=$port
SlurmdPort=$port2
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$PWD/munge/socket
StateSaveLocation=$PWD/state
SlurmdSpoolDir=$PWD/spool
SlurmctldPidFile=$PWD/slurmctld.pid
SlurmdPidFile=$PWD/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SchedulerParameters=sched_min_interval=50000,batch_sched_delay=0,sched_interval=1,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
KillWait=2
MaxArraySize=$((seed % 2 ? 6 : 10001))
NodeName=n NodeHostname=localhost NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=p Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END";
