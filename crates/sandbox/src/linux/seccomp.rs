use crate::{Unenforced, wording};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};
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
    // These have a number of their own in x32: `ptrace`, `kexec_load`, `process_vm_readv` and `process_vm_writev`.
    #[cfg(target_arch = "x86_64")]
    (X32 | 521),
    #[cfg(target_arch = "x86_64")]
    (X32 | 528),
    #[cfg(target_arch = "x86_64")]
    (X32 | 539),
    #[cfg(target_arch = "x86_64")]
    (X32 | 540),
];

/// System calls that fail in a box: programs try them, and go on without. They are a second way to every other system
/// call, and memory that no limit counts.
const REFUSING: &[i64] = &[
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_memfd_create,
    MEMFD_SECRET,
    libc::SYS_msgget,
    libc::SYS_semget,
    libc::SYS_shmget,
];

/// Number of the system call `memfd_secret`, which is the same on all architectures.
const MEMFD_SECRET: i64 = 447;

/// Bit that marks system calls of x32, the second calling convention of `x86_64`.
#[cfg(target_arch = "x86_64")]
const X32: i64 = 0x4000_0000;

/// System calls that make sockets. Their first argument is the family.
const SOCKETS: &[i64] = &[libc::SYS_socket, libc::SYS_socketpair];

/// Families of sockets that programs may use: the network namespace and the mounts keep them in the box. Others reach
/// the host of a virtual machine, or parts of the kernel that know no namespaces.
const FAMILIES: [i32; 4] = [
    libc::AF_UNIX,
    libc::AF_INET,
    libc::AF_INET6,
    libc::AF_NETLINK,
];

/// Filters of system calls, compiled into the form that bubblewrap reads.
pub(super) struct Filters {
    pub(super) killing: Vec<u8>,
    pub(super) refusing: Vec<u8>,
    /// Filter by which sockets of other families fail.
    pub(super) families: Vec<u8>,
}

impl Filters {
    /// Compiles the filters of system calls for this machine.
    pub(super) fn compile() -> Result<Self, Unenforced> {
        let fails_with = |errno: i32| SeccompAction::Errno(errno.unsigned_abs());
        Ok(Filters {
            killing: compiled(KILLING, &[], SeccompAction::KillProcess)?,
            refusing: compiled(REFUSING, &[], fails_with(libc::ENOSYS))?,
            families: compiled(
                SOCKETS,
                &[other_families()?],
                fails_with(libc::EAFNOSUPPORT),
            )?,
        })
    }
}

#[cfg(target_arch = "x86_64")]
fn numbers(calls: &[i64]) -> impl Iterator<Item = i64> {
    let x32 = calls.iter().map(|call| X32 | call);
    calls.iter().copied().chain(x32)
}

#[cfg(not(target_arch = "x86_64"))]
fn numbers(calls: &[i64]) -> impl Iterator<Item = i64> {
    calls.iter().copied()
}

/// Returns the rule that matches a socket whose family is not allowed.
fn other_families() -> Result<SeccompRule, Unenforced> {
    let is_not = |family: i32| {
        let family = u64::from(family.unsigned_abs());
        // The kernel reads the family as 32 bits.
        SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, family)
    };
    let conditions = FAMILIES.into_iter().map(is_not).collect::<Result<_, _>>();
    let rule = conditions.and_then(SeccompRule::new);
    rule.map_err(|error| unfit(&error))
}

fn unfit(error: &dyn std::fmt::Display) -> Unenforced {
    Unenforced::new(wording::no_filter(ARCH, error))
}

/// Compiles a filter that takes this action for each of these system calls, and lets all others pass. With `rules`, the
/// action is taken only if the arguments of the call match one of them; without rules, always.
fn compiled(
    calls: &[i64],
    rules: &[SeccompRule],
    action: SeccompAction,
) -> Result<Vec<u8>, Unenforced> {
    let arch = TargetArch::try_from(ARCH).map_err(|error| unfit(&error))?;
    let rules: BTreeMap<_, _> = numbers(calls).map(|call| (call, rules.to_vec())).collect();
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
