# Read by the fake engines. A test links all files of this folder into one of its own, and puts that
# on the path. The folder has what the engine knows:
#
#   jobs/ID/     name, size; INDEX.code once a piece has ended; INDEX.pids; `cancelled`
#   fault.NAME   made by the test. The next submission takes the fault:
#                hang    it starts the pieces, and never answers
#                kill    each piece is killed as it starts
#                lost    each piece is killed, and run again, while another attempt of it goes on
#                twice   each piece is run twice at once
#                lie     the engine says that all pieces have succeeded
#   fault.wait   no piece is started; the file has the reason, as the engine knows it
#   fault.deny   no job can be cancelled
#   fault.silent the next N calls hang, where N is what the file contains
#   fault.forget the next call finds no jobs

state=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$state/jobs"

# Succeeds if there is such a fault, once.
take() {
    rm "$state/fault.$1" 2>/dev/null
}

# Never answers, but ends with the caller.
hang() {
    while kill -0 $PPID 2>/dev/null; do sleep 0.1; done
    exit 1
}

# Ends with a message.
refuse() {
    echo "$1" >&2
    exit 1
}

# The faults of every call.
begin() {
    if [ -e "$state/fault.silent" ]; then
        left=$(cat "$state/fault.silent")
        if [ "$left" -gt 1 ]; then echo $((left - 1)) >"$state/fault.silent"; else take silent; fi
        hang
    fi
    if take forget; then
        mv "$state/jobs" "$state/forgotten.$$"
        mkdir "$state/jobs"
    fi
}

# Creates a job, and sets `id` and `job`.
create() { # name size [id]
    id=${3:-1}
    until mkdir "$state/jobs/$id" 2>/dev/null; do id=$((id + 1)); done
    job=$state/jobs/$id
    echo "$1" >"$job/name"
    echo "$2" >"$job/size"
    echo $$ >"$job/starter"
    for fault in kill lost twice lie; do
        if take $fault; then : >"$job/$fault"; fi
    done
}

# Starts the piece of an index, as a worker's direct process.
start() { # index command..
    [ -e "$state/fault.wait" ] && return
    : >"$job/$1.started"
    setsid "$state/worker" "$job" "$@" </dev/null >/dev/null 2>&1 &
}

# Prints the state of an index: waiting, running, finished, failed or cancelled.
look() { # index
    code=$(cat "$job/$1.code" 2>/dev/null)
    if [ -e "$job/lie" ] || [ "$code" = 0 ]; then
        echo finished
    elif [ -e "$job/cancelled" ]; then
        echo cancelled
    elif [ -e "$state/fault.wait" ]; then
        echo waiting
    elif [ ! -e "$job/$1.started" ] && ! kill -0 "$(cat "$job/starter")" 2>/dev/null; then
        # What submitted it was killed too soon.
        echo failed
    elif [ -n "$code" ]; then
        echo failed
    else
        echo running
    fi
}

# Succeeds if an index of the job has not ended.
lives() {
    for index in $(indexes); do
        case $(look "$index") in running | waiting) return ;; esac
    done
    false
}

cancel() {
    if [ -e "$state/fault.deny" ]; then refuse "Forbidden"; fi
    : >"$job/cancelled"
    for pids in "$job"/*.pids; do
        [ -e "$pids" ] && kill -9 $(cat "$pids") 2>/dev/null
    done
    :
}

# Refuses to act unless `-M` names the cluster that `fault.cluster` has, if any, and sets how many words
# that took.
cluster() { # words..
    skipped=0
    if [ "$1" = -M ]; then skipped=2; fi
    if [ -e "$state/fault.cluster" ] && [ "$1 $2" != "-M $(cat "$state/fault.cluster")" ]; then
        refuse "No cluster '$2' known by database"
    fi
}

indexes() {
    seq 0 $(($(cat "$job/size") - 1))
}
