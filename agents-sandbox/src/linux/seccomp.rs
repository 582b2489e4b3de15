use crate::{Unenforced, wording};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch};
use std::{collections::BTreeMap, env::consts::ARCH};

/// System calls that no program needs which only computes: they reach for other processes, for mounts, for namespaces, for
/// keys, for the clock, or for the kernel itself.
const KILLING: &[i64] = &[
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_fanotify_init,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_kcmp,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_quotactl,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_kexec_file_load,
];

/// System calls that programs try, and go on without: a second way to every other system call, and memory that no limit
/// counts.
const REFUSING: &[i64] = &[
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_memfd_create,
    MEMFD_SECRET,
    libc::SYS_msgget,
    libc::SYS_shmget,
];

/// `memfd_secret`, whose number is the same on all architectures.
const MEMFD_SECRET: i64 = 447;

/// Bit of the system calls of x32, the second calling convention of `x86_64`.
#[cfg(target_arch = "x86_64")]
const X32: i64 = 0x4000_0000;

/// System calls of the first list that have a number of their own in x32: `ptrace`, `kexec_load`, `process_vm_readv` and
/// `process_vm_writev`.
#[cfg(target_arch = "x86_64")]
const OWN_X32: &[i64] = &[521, 528, 539, 540];

/// Compiled filters of system calls, as bubblewrap reads them.
pub(super) struct Filters {
    pub(super) killing: Vec<u8>,
    pub(super) refusing: Vec<u8>,
}

impl Filters {
    /// Compiles the filters for this machine.
    pub(super) fn compile() -> Result<Self, Unenforced> {
        let enosys = u32::try_from(libc::ENOSYS).unwrap_or_default();
        Ok(Filters {
            killing: compiled(KILLING, SeccompAction::KillProcess)?,
            refusing: compiled(REFUSING, SeccompAction::Errno(enosys))?,
        })
    }
}

#[cfg(target_arch = "x86_64")]
fn numbers(calls: &[i64]) -> impl Iterator<Item = i64> {
    let x32 = calls.iter().chain(OWN_X32).map(|call| X32 | call);
    calls.iter().copied().chain(x32)
}

#[cfg(not(target_arch = "x86_64"))]
fn numbers(calls: &[i64]) -> impl Iterator<Item = i64> {
    calls.iter().copied()
}

fn compiled(calls: &[i64], action: SeccompAction) -> Result<Vec<u8>, Unenforced> {
    let unfit = |error: &dyn std::fmt::Display| Unenforced::new(wording::no_filter(ARCH, error));
    let arch = TargetArch::try_from(ARCH).map_err(|error| unfit(&error))?;
    // Without rules for the arguments, a system call is matched whatever they are.
    let rules: BTreeMap<_, _> = numbers(calls).map(|call| (call, Vec::new())).collect();
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, action, arch)
        .map_err(|error| unfit(&error))?;
    let program = BpfProgram::try_from(filter).map_err(|error| unfit(&error))?;
    let mut bytes = Vec::with_capacity(program.len() * 8);
    for step in program {
        bytes.extend(step.code.to_ne_bytes());
        bytes.extend([step.jt, step.jf]);
        bytes.extend(step.k.to_ne_bytes());
    }
    Ok(bytes)
}
