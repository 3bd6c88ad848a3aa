#include "assay/supervise/sandbox_filter.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace assay {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#elif defined(__riscv)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_RISCV64;
#else
constexpr std::uint32_t kArchitecture = 0;
#endif

/// Newer than the headers of some systems.
constexpr int kSysMountSetattr = 442;
constexpr int kSysIoUringSetup = 425;
constexpr int kSysPidfdGetfd = 438;
constexpr int kSysClone3 = 435;
constexpr int kSysOpenat2 = 437;
constexpr int kSysQuotactlFd = 443;
constexpr int kSysFchmodat2 = 452;
constexpr int kSysSetxattrat = 463;
constexpr int kSysRemovexattrat = 466;
constexpr int kSysFileSetattr = 469;
constexpr int kFirstX32 = 0x40000000;

constexpr auto kRefused = std::to_array<int>({
    SYS_socket,
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    kSysPidfdGetfd,
    SYS_kcmp,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_setns,
    SYS_unshare,
    kSysMountSetattr,
    SYS_open_tree,
    SYS_move_mount,
    SYS_fsopen,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fspick,
    SYS_bpf,
    SYS_userfaultfd,
    SYS_add_key,
    SYS_request_key,
    SYS_keyctl,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_acct,
    SYS_quotactl,
    kSysQuotactlFd,
    SYS_fanotify_init,
    SYS_syslog,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_open_by_handle_at,
    SYS_vhangup,
});

/// Calls that change a file that is open for reading, or not at all. The older calls are absent on
/// newer architectures.
constexpr auto kFileChanges = std::to_array<int>({
#ifdef SYS_chmod
    SYS_chmod,        SYS_chown,      SYS_lchown,        SYS_utime,
    SYS_utimes,       SYS_futimesat,
#endif
    SYS_truncate,     SYS_fchmod,     SYS_fchmodat,      kSysFchmodat2,
    SYS_fchown,       SYS_fchownat,   SYS_utimensat,     SYS_setxattr,
    SYS_lsetxattr,    SYS_fsetxattr,  SYS_removexattr,   SYS_lremovexattr,
    SYS_fremovexattr, kSysSetxattrat, kSysRemovexattrat, kSysFileSetattr,
});

/// Second byte of the requests by which ioctl() changes flags, attributes and subvolumes: those of
/// all file systems, of XFS, ext4, btrfs and F2FS.
constexpr auto kFileRequests = std::to_array<std::uint8_t>({'f', 'X', 'v', 0x94, 0xf5});

constexpr std::uint32_t kOpenModes = 3;  // Some libraries' O_ACCMODE has more bits.

/// Cuts a file to nothing without the right to write to it, before Landlock's ABI 3, where the mode
/// is none that writes: for reading, or for neither.
constexpr auto kCuttingFlags = std::to_array<std::uint32_t>({O_TRUNC, O_TRUNC | kOpenModes});

/// As if the kernel did not have them: libraries then take the older way.
constexpr auto kAbsent = std::to_array<int>({kSysIoUringSetup, kSysClone3});
/// Likewise: its flags are where a filter cannot look.
constexpr auto kAbsentToGuardFiles = std::to_array<int>({kSysOpenat2});

constexpr std::uint32_t kRefuse = SECCOMP_RET_ERRNO | EPERM;
constexpr std::uint32_t kPretendAbsent = SECCOMP_RET_ERRNO | ENOSYS;
constexpr std::uint32_t kPretendUnknown = SECCOMP_RET_ERRNO | ENOTTY;

constexpr sock_filter load(std::uint32_t offset) {
  return {BPF_LD | BPF_W | BPF_ABS, 0, 0, offset};
}

/// The next instruction is for this value alone.
constexpr sock_filter unless_equal_skip(std::uint32_t value, std::uint8_t skipped) {
  return {BPF_JMP | BPF_JEQ | BPF_K, 0, skipped, value};
}

constexpr sock_filter answer(std::uint32_t action) { return {BPF_RET | BPF_K, 0, 0, action}; }

/// Instructions in addition to the two of each listed call.
constexpr std::size_t kFixed = 32;
constexpr std::size_t kMostInstructions =
    kFixed + 2 * (kRefused.size() + kFileChanges.size() + kFileRequests.size() + kAbsent.size() +
                  kAbsentToGuardFiles.size());

/// CLONE_NEWTIME is a bit of the signal here: clone() has no time namespaces.
constexpr std::uint32_t kNewNamespaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET |
                                         CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;

class Filter {
 public:
  constexpr explicit Filter(bool guards_files) {
    check_architecture();
    answer_calls(kRefused, kRefuse);
    answer_calls(kAbsent, kPretendAbsent);
    if (guards_files) {
      answer_calls(kFileChanges, kRefuse);
      answer_calls(kAbsentToGuardFiles, kPretendAbsent);
      refuse_file_requests();
#ifdef SYS_open
      refuse_cuts(SYS_open, 1);
#endif
      refuse_cuts(SYS_openat, 2);
    }
    refuse_new_namespaces();
    add(answer(SECCOMP_RET_ALLOW));
  }

  [[nodiscard]] sock_fprog program() const {
    return {static_cast<unsigned short>(size_), const_cast<sock_filter*>(steps_.data())};
  }

 private:
  constexpr void add(const sock_filter& step) { steps_[size_++] = step; }

  /// Another architecture's calls have other numbers; so has x32 within x86-64.
  constexpr void check_architecture() {
    add(load(offsetof(seccomp_data, arch)));
    add({BPF_JMP | BPF_JEQ | BPF_K, 1, 0, kArchitecture});
    add(answer(kRefuse));
    add(load(offsetof(seccomp_data, nr)));
    add({BPF_JMP | BPF_JGE | BPF_K, 0, 1, kFirstX32});
    add(answer(kRefuse));
  }

  constexpr void answer_calls(std::span<const int> calls, std::uint32_t action) {
    for (const int call : calls) {
      add(unless_equal_skip(static_cast<std::uint32_t>(call), 1));
      add(answer(action));
    }
  }

  /// Their readings go with them: a request's second byte does not tell which it is.
  constexpr void refuse_file_requests() {
    constexpr std::uint32_t kByte = 8;
    constexpr std::uint32_t kMask = 0xff;
    add(unless_equal_skip(SYS_ioctl, static_cast<std::uint8_t>(4 + 2 * kFileRequests.size())));
    add(load(offsetof(seccomp_data, args) + sizeof(std::uint64_t)));
    add({BPF_ALU | BPF_RSH | BPF_K, 0, 0, kByte});
    add({BPF_ALU | BPF_AND | BPF_K, 0, 0, kMask});
    for (const auto request : kFileRequests) {
      add(unless_equal_skip(request, 1));
      add(answer(kPretendUnknown));
    }
    add(answer(SECCOMP_RET_ALLOW));
  }

  constexpr void refuse_cuts(int call, std::size_t argument) {
    constexpr std::uint32_t kLooked = O_TRUNC | kOpenModes;
    add(unless_equal_skip(static_cast<std::uint32_t>(call),
                          static_cast<std::uint8_t>(3 + 2 * kCuttingFlags.size())));
    add(load(offsetof(seccomp_data, args) + argument * sizeof(std::uint64_t)));
    add({BPF_ALU | BPF_AND | BPF_K, 0, 0, kLooked});
    for (const auto flags : kCuttingFlags) {
      add(unless_equal_skip(flags, 1));
      add(answer(kRefuse));
    }
    add(answer(SECCOMP_RET_ALLOW));
  }

  /// A new user namespace would have capabilities in itself; whoever is root in the box may make
  /// the others without one.
  constexpr void refuse_new_namespaces() {
    add(unless_equal_skip(SYS_clone, 3));
    add(load(offsetof(seccomp_data, args)));
    add({BPF_JMP | BPF_JSET | BPF_K, 0, 1, kNewNamespaces});
    add(answer(kRefuse));
  }

  std::array<sock_filter, kMostInstructions> steps_{};
  std::size_t size_ = 0;
};

constexpr Filter kFilter(false);
constexpr Filter kFilterOfFiles(true);

}  // namespace

int install_sandbox_filter(bool guards_files) {
  const auto program = (guards_files ? kFilterOfFiles : kFilter).program();
  // No mitigation that slows the program down: it is not a page of a browser.
  constexpr unsigned kFlags = SECCOMP_FILTER_FLAG_SPEC_ALLOW;
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, kFlags, &program) == 0 ? 0 : errno;
}

}  // namespace assay
