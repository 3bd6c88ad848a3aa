#pragma once

namespace assay {

/// Means that the kernel offers this process to sandbox another one. Each was tried.
struct SandboxAbilities {
  int landlock_abi = 0;      ///< 0: there is none.
  int landlock_error = 0;    ///< Why, an errno.
  int seccomp_error = 0;     ///< 0: filters can be used.
  int namespaces_error = 0;  ///< 0: user, process, mount, network and IPC namespaces can be used.
  int read_only_error = 0;   ///< 0: all file systems can be made read-only in them, too.
};

/// Tried once in this process; about 3 ms. Changes nothing outside of the processes that try.
const SandboxAbilities& sandbox_abilities();

/// Puts the calling process into namespaces of its own, and its next child into a process namespace
/// of which it is the init. Whoever is root keeps all user and group IDs, where that is allowed;
/// anybody else keeps his own alone. Between fork and exec, without allocation. Returns 0 or an
/// errno.
int unshare_namespaces();

}  // namespace assay
