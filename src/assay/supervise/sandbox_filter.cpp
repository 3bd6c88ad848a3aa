#include "assay/supervise/sandbox_filter.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>

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
    SYS_syslog,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_open_by_handle_at,
    SYS_vhangup,
});

/// As if the kernel did not have them: libraries then take the older way.
constexpr auto kAbsent = std::to_array<int>({kSysIoUringSetup, kSysClone3});

constexpr std::uint32_t kRefuse = SECCOMP_RET_ERRNO | EPERM;
constexpr std::uint32_t kPretendAbsent = SECCOMP_RET_ERRNO | ENOSYS;

constexpr sock_filter load(std::uint32_t offset) {
  return {BPF_LD | BPF_W | BPF_ABS, 0, 0, offset};
}

/// The next instruction is for this value alone.
constexpr sock_filter unless_equal_skip(std::uint32_t value, std::uint8_t skipped) {
  return {BPF_JMP | BPF_JEQ | BPF_K, 0, skipped, value};
}

constexpr sock_filter answer(std::uint32_t action) { return {BPF_RET | BPF_K, 0, 0, action}; }

/// Instructions beside the two of each listed call.
constexpr std::size_t kFixed = 11;

/// CLONE_NEWTIME is a bit of the signal here: clone() has no time namespaces.
constexpr std::uint32_t kNewNamespaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET |
                                         CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;

constexpr auto make_filter() {
  std::array<sock_filter, kFixed + 2 * (kRefused.size() + kAbsent.size())> filter{};
  std::size_t at = 0;
  // Another architecture's calls have other numbers; so has x32 within x86-64.
  filter[at++] = load(offsetof(seccomp_data, arch));
  filter[at++] = {BPF_JMP | BPF_JEQ | BPF_K, 1, 0, kArchitecture};
  filter[at++] = answer(kRefuse);
  filter[at++] = load(offsetof(seccomp_data, nr));
  filter[at++] = {BPF_JMP | BPF_JGE | BPF_K, 0, 1, kFirstX32};
  filter[at++] = answer(kRefuse);
  for (const int call : kRefused) {
    filter[at++] = unless_equal_skip(static_cast<std::uint32_t>(call), 1);
    filter[at++] = answer(kRefuse);
  }
  for (const int call : kAbsent) {
    filter[at++] = unless_equal_skip(static_cast<std::uint32_t>(call), 1);
    filter[at++] = answer(kPretendAbsent);
  }
  // A new user namespace would have capabilities in itself; whoever is root in the box may make the
  // others without one.
  filter[at++] = unless_equal_skip(SYS_clone, 3);
  filter[at++] = load(offsetof(seccomp_data, args));
  filter[at++] = {BPF_JMP | BPF_JSET | BPF_K, 0, 1, kNewNamespaces};
  filter[at++] = answer(kRefuse);
  filter[at++] = answer(SECCOMP_RET_ALLOW);
  return filter;
}

constexpr auto kFilter = make_filter();

}  // namespace

int install_sandbox_filter() {
  const sock_fprog program{static_cast<unsigned short>(kFilter.size()),
                           const_cast<sock_filter*>(kFilter.data())};
  // Without a mitigation that would slow the program down: it is no browser's page.
  constexpr unsigned kFlags = SECCOMP_FILTER_FLAG_SPEC_ALLOW;
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, kFlags, &program) == 0 ? 0 : errno;
}

}  // namespace assay
