#pragma once

#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"

namespace assay {

/// The settings of a case's execution that are not part of its identity.
struct Reproduction {
  std::vector<Pass> passes = {Pass::kTiming};
  std::vector<std::string> against;    ///< Kinds of reference; empty: those there are.
  Json tolerance = Json::object();     ///< Tolerance of the spec.
  std::vector<std::string> flags;      ///< Further words: {"--library", "/my/delegate.so"}.
  std::vector<std::string> run_flags;  ///< Those of them that `assay run` takes, too.
};

/// The command that executes a case alone, ready for a POSIX shell: it makes a case of the same
/// key. `assay bench` or `assay eval` where their flags can say it all, else `assay run` with the
/// spec itself as its argument.
std::string command_from_case(const Case& cell, const Reproduction& how);

/// Flags of a command line that shape launches and are no part of a case: "--library", "--plugin",
/// "--launches", …; with `is_for_run`, those that every verb takes.
std::vector<std::string> launch_flags(const std::vector<std::string>& argv, bool is_for_run);

}  // namespace assay
