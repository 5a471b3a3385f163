//! Pieces of the engine `local` end when `run` does, however that ends.

use crate::Error;

/// Ends this process when the process `parent`, which has started it, ends.
pub fn follow(parent: u32) -> Result<(), Error> {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Signal, set_parent_process_death_signal};
        set_parent_process_death_signal(Some(Signal::KILL))
            .map_err(|error| Error::elsewhere(format!("PR_SET_PDEATHSIG: {error}")))?;
    }
    // It may have ended before that.
    #[cfg(unix)]
    if std::os::unix::process::parent_id() != parent {
        let text = format!("process {parent}, which started this piece, has ended");
        return Err(Error::elsewhere(text));
    }
    let _ = parent;
    Ok(())
}

/// Returns whether a process of this machine has ended, as far as that can be known.
pub fn has_ended(pid: u32) -> bool {
    #[cfg(unix)]
    {
        use rustix::io::Errno;
        use rustix::process::{Pid, test_kill_process};
        // A zombie has ended, but can be signalled: its parent may never notice.
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let is_zombie = stat
            .rsplit(") ")
            .next()
            .is_some_and(|rest| rest.starts_with('Z'));
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        is_zombie || pid.is_none_or(|pid| test_kill_process(pid) == Err(Errno::SRCH))
    }
    #[cfg(not(unix))]
    {
        let _ = pid;
        false
    }
}
