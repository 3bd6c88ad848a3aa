#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/verb.h"
#include "assay/engine/installed_builds.h"
#include "assay/record/subject.h"

namespace assay::cli {
namespace {

/// Engines that were added, and whether each can be used.
Result<ExitCode> list_added() {
  const auto added = registered_builds(assay_home());
  if (added.empty()) {
    fmt::print(stderr, "no engine was added; `assay list engines` shows the installed ones\n");
  }
  for (const auto& build : added) {
    const bool is_there = std::filesystem::exists(build.runner);
    fmt::print("{}  {}{}\n", build.reference(), build.runner, is_there ? "" : " (is not there)");
  }
  return ExitCode::kOk;
}

/// Strikes an engine off, with the folder that `engine add` made for it; what it was made from, and
/// a runner that lies elsewhere, stay.
Result<ExitCode> remove_added(const std::string& reference) {
  ASSAY_ASSIGN_OR_RETURN(const auto build, unregister_build(assay_home(), reference));
  std::error_code error;
  std::filesystem::remove_all(engines_folder(assay_home()) / build.reference(), error);
  if (error) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("{} is no longer registered, but its folder could not be removed: {}",
                            reference, error.message()));
  }
  fmt::print("{} is removed\n", build.reference());
  return ExitCode::kOk;
}

Execute declare_remove(CLI::App& app) {
  auto reference = std::make_shared<std::string>();
  app.add_subcommand("remove", "Remove an engine that was added")
      ->add_option("reference", *reference, "ENGINE@NAME, as `assay engine list` shows it")
      ->required();
  return [reference] { return remove_added(*reference); };
}

}  // namespace

Execute declare_engine(CLI::App& app) {
  app.require_subcommand(1);
  std::vector<std::pair<const char*, Execute>> verbs;
  verbs.emplace_back("add", declare_engine_add(app));
  verbs.emplace_back("build", declare_engine_build(app));
  verbs.emplace_back("check", declare_engine_check(app));
  verbs.emplace_back("gc", declare_engine_gc(app));
  app.add_subcommand("list", "Show the engines that were added");
  verbs.emplace_back("list", list_added);
  verbs.emplace_back("remove", declare_remove(app));
  return [&app, verbs] {
    const auto named = [&app](const auto& verb) { return app.got_subcommand(verb.first); };
    return std::ranges::find_if(verbs, named)->second();
  };
}

}  // namespace assay::cli
