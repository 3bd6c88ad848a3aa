#pragma once

#include <cstdint>

#include "assay/base/file_descriptor.h"
#include "assay/record/sandbox.h"

namespace assay {

/// The rules by which Landlock keeps a box to its files.
///
/// Landlock governs which files are opened, made, renamed and removed; from ABI 3 on which are cut
/// to a size. It never governs modes, owners, times and attributes: those are the sandbox's other
/// means.
class SandboxFiles {
 public:
  /// No rules.
  SandboxFiles() = default;

  /// The system, and the request's paths. A folder that is not opened as a whole is left out.
  /// If there is no ruleset, errno says why.
  static SandboxFiles prepare(int landlock_abi, const SandboxRequest& request);

  [[nodiscard]] bool is_prepared() const { return ruleset_.is_open(); }

  /// Restricts the calling process, for good, and opens the private folder to it; with `has_view`
  /// also the shared memory of mount_view(). Between fork and exec, without allocation. Returns 0
  /// or an errno.
  [[nodiscard]] int restrict(const char* folder, bool has_view) const;

 private:
  FileDescriptor ruleset_;
  std::uint64_t handled_ = 0;  ///< All rights that this kernel knows.
};

}  // namespace assay
