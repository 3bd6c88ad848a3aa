#include "assay/cli/sandbox_flag.h"

#include <CLI/CLI.hpp>
#include <expected>
#include <fmt/format.h>
#include <optional>
#include <string>

#include "assay/base/enum_names.h"
#include "assay/base/result.h"
#include "assay/record/sandbox.h"
#include "assay/supervise/sandbox.h"

namespace assay::cli {

void SandboxFlag::declare(CLI::App& app, const std::string& what, const std::string& otherwise) {
  app.add_option("--sandbox", mode,
                 fmt::format("Isolate {} from the network, other files and other processes: off, "
                             "on, or required, which fails if the kernel cannot enforce all of it "
                             "[default: {}]",
                             what, otherwise));
}

Result<std::optional<SandboxMode>> SandboxFlag::get(std::optional<SandboxMode> of_spec) const {
  auto chosen = of_spec;
  if (!mode.empty()) {
    const auto named = enum_from_name<SandboxMode>(mode);
    if (!named) {
      return fail(ErrorCode::kInvalidArgument, "--sandbox: " + named.error().message);
    }
    chosen = *named;
  }
  if (chosen == SandboxMode::kRequired) {
    ASSAY_RETURN_IF_ERROR(promise_sandbox(*chosen));
  }
  return chosen;
}

}  // namespace assay::cli
