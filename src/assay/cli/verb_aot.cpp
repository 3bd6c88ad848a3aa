#include <cstddef>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "assay/artifact/artifact_builder.h"
#include "assay/artifact/cache.h"
#include "assay/artifact/toolchain.h"
#include "assay/artifact/toolchains.h"
#include "assay/base/enum_names.h"
#include "assay/base/file_name.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/base/units.h"
#include "assay/campaign/preparation.h"
#include "assay/campaign/request_from_spec.h"
#include "assay/campaign/toolchain_job.h"
#include "assay/cli/common_flags.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/progress.h"
#include "assay/cli/quick_spec.h"
#include "assay/cli/sandbox_flag.h"
#include "assay/cli/verb.h"
#include "assay/device/environment.h"
#include "assay/engine/installed_builds.h"
#include "assay/record/case.h"
#include "assay/record/invalid_request.h"
#include "assay/record/subject.h"
#include "assay/spec/expand.h"
#include "assay/spec/program_format.h"
#include "assay/spec/spec.h"

namespace assay::cli {
namespace {

struct AotOptions {
  QuickSpec quick;
  ToolchainFlags toolchain;
  SandboxFlag sandbox;
  std::string out;
  std::string stop_after;
  bool is_rebuild = false;
};

Result<std::vector<Case>> cases_of(const AotOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const auto document, options.quick.document({"timing"}));
  ASSAY_ASSIGN_OR_RETURN(const auto context, options.toolchain.context("assay aot"));
  ASSAY_ASSIGN_OR_RETURN(const auto spec, spec_from_json(document, context));
  const auto installed = find_installed_builds(assay_home());
  ASSAY_RETURN_IF_ERROR(check_engines_found(spec, installed));
  ASSAY_ASSIGN_OR_RETURN(auto expansion,
                         expand(spec, {.devices = {{.device_class = read_environment().device_class,
                                                    .installed = installed.builds}}}));
  if (find_program_format(options.quick.model)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is a finished program, so there is nothing to build; `assay "
                            "inspect` shows its contents",
                            options.quick.model));
  }
  for (const auto& refused : expansion.refused) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("{} {}: {}", refused.model, refused.recipe, refused.reason));
  }
  return std::move(expansion.cases);
}

/// Prints the figures that a compiler models of a program that nothing here executes.
void print_modelled(const Json& modelled) {
  const auto number = [&modelled](const char* key) {
    const auto found = modelled.find(key);
    return found != modelled.end() && found->is_number() ? found->get<double>() : 0.0;
  };
  const auto text = [&modelled](const char* key) { return modelled.value(key, std::string()); };
  print_out("  modelled by {}, not measured: {} ({}, {}, {:.0f} MHz)\n", text("by"), text("target"),
            text("system_config"), text("memory_mode"), number("core_clock_hz") / 1e6);
  print_out("    {:.0f} cycles, {} an inference, {:.1f} inferences/s\n", number("cycles"),
            text_from_duration_ns(number("inference_ns")), number("inferences_per_s"));
  for (const auto* area : {"sram", "dram", "flash"}) {
    print_out("    {:<5} {:>10} used, {:>10} moved an inference\n", area,
              text_from_bytes(number(fmt::format("{}_bytes", area).c_str())),
              text_from_bytes(number(fmt::format("{}_traffic_bytes", area).c_str())));
  }
}

/// `folder`: the one that the user asked for, or the artifact's own in the cache.
void print_artifact(const Artifact& artifact, const std::filesystem::path& folder,
                    bool is_from_cache) {
  const auto& manifest = artifact.manifest;
  const Json program = manifest.value("program", Json::object());
  print_out("  {}{}\n", (folder / artifact.entry).string(),
            is_from_cache ? " (from the cache)" : "");
  for (const auto& file : artifact.files) {
    print_out("  {} {}  sha256 {}\n", file.name, text_from_bytes(static_cast<double>(file.bytes)),
              file.sha256);
  }
  print_out("  delegation {}: {} nodes delegated, {} not\n",
            manifest.value("delegation", "unknown"), program.value("nodes_delegated", 0),
            program.value("nodes_not_delegated", 0));
  const Json left = program.value("operators_left", Json::array());
  for (const auto& op : left) {
    print_out("    left: {} x {}{}\n", op.value("count", 0), op.value("name", ""),
              op.contains("reason") && op["reason"].is_string()
                  ? ": " + op["reason"].get<std::string>()
                  : "");
  }
  if (const auto modelled = program.find("modelled"); modelled != program.end()) {
    print_modelled(*modelled);
  }
  const Json stages = manifest.value("stages", Json::array());
  for (const auto& stage : stages) {
    print_out("  {:<10} {:>8}  peak {}\n", stage.value("name", ""),
              text_from_duration_ns(stage.value("wall_ns", 0.0)),
              text_from_bytes(stage.value("peak_rss_bytes", 0.0)));
  }
  if (manifest.contains("reproducible")) {
    print_out("  a second build gave {} bytes\n",
              manifest["reproducible"] == true ? "the same" : "other");
  }
}

Result<BuiltArtifacts> make_programs(const AotOptions& options, const std::vector<Case>& cases,
                                     const ToolchainOf& toolchain_of, const ArtifactCache& cache) {
  Progress progress(false);
  ASSAY_ASSIGN_OR_RETURN(const auto sandbox, options.sandbox.get());
  return build_artifacts({.cases = cases,
                          .reference_kinds = {},
                          .parallel_jobs = options.toolchain.jobs,
                          .is_rebuild = options.is_rebuild,
                          .is_stop_after_lower = options.stop_after == "lower",
                          .sandbox = sandbox},
                         toolchain_of, cache, build_listener(progress));
}

/// The folder for the program of a case; empty: the user asked for none. Several programs have
/// files of the same names, so each gets a folder named after its recipe.
std::filesystem::path out_folder_of(const AotOptions& options, const Case& cell,
                                    std::size_t cases) {
  std::filesystem::path out = options.out;
  if (out.empty() || cases == 1) {
    return out;
  }
  return out / file_name_from(cell.recipe.name);
}

Result<ExitCode> execute_aot(const AotOptions& options) {
  options.toolchain.apply();
  ASSAY_ASSIGN_OR_RETURN(const auto cases, cases_of(options));
  const auto toolchain_of = toolchains_of(default_python(options.toolchain.python));
  const ArtifactCache cache(assay_home() / "cache");
  ASSAY_ASSIGN_OR_RETURN(const auto built, make_programs(options, cases, toolchain_of, cache));
  if (built.boxed > 0) {
    tell_gaps_of_toolchain_box();
  }
  auto code = ExitCode::kOk;
  for (const auto& cell : cases) {
    ASSAY_ASSIGN_OR_RETURN(const auto toolchain, toolchain_of(cell.recipe.lowering));
    const auto& outcome = built.artifacts.at(artifact_key(cell, toolchain.id));
    print_out("{}\n", label_of(cell));
    if (!outcome.artifact) {
      const bool is_wrong_request = outcome.failure.reason_code == kInvalidRequest;
      code =
          is_wrong_request && code != ExitCode::kFindings ? ExitCode::kUsage : ExitCode::kFindings;
      print_out("  {} while {}: {}\n", name_of(outcome.failure.outcome),
                name_of(outcome.failure.stage), outcome.failure.text);
      continue;
    }
    const auto out = out_folder_of(options, cell, cases.size());
    if (!out.empty()) {
      ASSAY_RETURN_IF_ERROR(copy_artifact(*outcome.artifact, out));
    }
    print_artifact(*outcome.artifact,
                   out.empty() ? std::filesystem::path(outcome.artifact->folder) : out,
                   outcome.is_from_cache);
  }
  return code;
}

}  // namespace

Execute declare_aot(CLI::App& app) {
  auto options = std::make_shared<AotOptions>();
  options->quick.declare_model(app);
  app.add_option(
      "--out", options->out,
      "Folder to write the program's files and manifest to; of several recipes, each to a "
      "folder of its own in it [default: only the cache]");
  app.add_option("--stop-after", options->stop_after,
                 "Stop after this stage; lower suffices to inspect delegation to backends that run "
                 "elsewhere")
      ->check(CLI::IsMember({"lower"}));
  app.add_flag("--rebuild", options->is_rebuild,
               "Rebuild the program and report whether its bytes changed");
  options->toolchain.declare(app);
  options->sandbox.declare(app, "toolchain jobs", "on for .pt2 models, else off");
  return [options] { return execute_aot(*options); };
}

}  // namespace assay::cli
