#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace fixedpoint::testing {

/// Result of checking bytes that may be a program.
struct KernelCheck {
  bool is_accepted = false;
  /// Not when it is accepted but large: more than a million bytes or a few million steps.
  bool has_run = false;
  /// Difference between instruction sets; empty when they agree.
  std::string disagreement;
};

/// Opens the bytes as a program on each instruction set that runs here and runs what is small.
///
/// The blob, inputs and outputs lie in memory of their exact sizes, at odd addresses where they
/// may, so that a sanitizer sees whatever is read or written outside of them.
KernelCheck check_blob(std::span<const std::byte> blob);

}  // namespace fixedpoint::testing
