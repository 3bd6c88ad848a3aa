#include <cstddef>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/artifact/cache.h"
#include "assay/base/clock.h"
#include "assay/base/enum_names.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/log.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/instructions.h"
#include "assay/cli/campaign_setup.h"
#include "assay/cli/common_flags.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/progress.h"
#include "assay/cli/quick_spec.h"
#include "assay/cli/result_flags.h"
#include "assay/cli/run_reference.h"
#include "assay/cli/verb.h"
#include "assay/record/axes.h"  // IWYU pragma: keep
#include "assay/record/case.h"
#include "assay/record/profile.h"
#include "assay/record/summary.h"
#include "assay/remote/device_choice.h"
#include "assay/report/profile.h"
#include "assay/report/trace.h"
#include "assay/spec/spec.h"
#include "assay/store/result_store.h"
#include "assay/summary/profile_breakdown.h"
#include "assay/summary/profile_difference.h"
#include "assay/summary/profile_layers.h"
#include "assay/summary/summarize.h"

namespace assay::cli {
namespace {

constexpr std::size_t kProfileWidth = 120;

struct ProfileOptions {
  QuickSpec quick;
  CampaignFlags flags;
  std::string other;
  ResultFlags output;
  std::string trace;
  int profile_iterations = 30;
  int top = 15;
  bool has_instructions = false;
  bool shows_layers = false;
};

/// Cases with a profile, whatever run they are of.
struct Profiles {
  std::string run;
  std::vector<CaseSummary> cases;
};

Result<Json> profile_document(const ProfileOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(auto document, options.quick.document({"timing", "profile"}));
  document["name"] = "profile";
  document.erase("evaluate");
  if (!options.other.empty()) {
    auto second = document["models"][0];
    second["ref"] = options.other;
    document["models"].push_back(std::move(second));
  }
  return document;
}

Result<CampaignRequest> profile_request(const ProfileOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const auto document, profile_document(options));
  ASSAY_ASSIGN_OR_RETURN(const auto context, options.flags.toolchain.context("assay profile"));
  ASSAY_ASSIGN_OR_RETURN(const auto spec, spec_from_json(document, context));
  ASSAY_ASSIGN_OR_RETURN(auto request, plan_campaign(spec, options.flags));
  request.context.run.purpose = "profile";
  request.context.settings.against.clear();
  request.context.settings.profile_iterations = options.profile_iterations;
  return request;
}

/// A case that failed is reported and left out.
Status add_profiles(ResultStore& store, std::string_view id, Profiles& profiles) {
  ASSAY_ASSIGN_OR_RETURN(const auto run, store.get_run(id));
  ASSAY_ASSIGN_OR_RETURN(
      auto summary, summarize_run(store, run, {.has_launch_series = false, .has_spans = true}));
  for (auto& one : summary.cases) {
    if (one.profile) {
      profiles.cases.push_back(std::move(one));
    } else {
      log_line(LogLevel::kWarning,
               fmt::format("no profile of {}: {} {}", one.label, name_of(one.outcome), one.text));
    }
  }
  profiles.run += (profiles.run.empty() ? "" : " ") + run.id;
  return {};
}

Result<Profiles> measure_profiles(const ProfileOptions& options, CampaignRequest request) {
  request.finishes_run = !options.has_instructions;
  ASSAY_ASSIGN_OR_RETURN(const auto store, options.flags.store.open());
  {
    Progress progress(options.flags.run.is_quiet);
    const ArtifactCache cache(assay_home() / "cache");
    const auto tools =
        campaign_tools(*store, cache, options.flags.toolchain, options.flags.device, progress);
    ASSAY_RETURN_IF_ERROR(run_campaign(request, tools));
    if (options.has_instructions) {
      // A device has its own, which is looked for there.
      const bool is_here = options.flags.device.current()->name == kLocalDevice;
      const auto valgrind = is_here ? find_valgrind() : std::optional<std::string>("valgrind");
      ASSAY_RETURN_IF_ERROR(count_instructions(request, tools, {.valgrind = valgrind}));
      ASSAY_RETURN_IF_ERROR(store->finish_run(request.context.run.id, unix_time_ns()));
    }
  }
  Profiles profiles;
  ASSAY_RETURN_IF_ERROR(add_profiles(*store, request.context.run.id, profiles));
  return profiles;
}

/// "run:latest", or two of them.
Result<Profiles> stored_profiles(const ProfileOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const auto store, options.flags.store.open_to_read());
  Profiles profiles;
  for (const std::string_view text : {options.quick.model, options.other}) {
    if (text.empty()) {
      continue;
    }
    const auto run = find_run_reference(text);
    if (!run) {
      return fail(ErrorCode::kInvalidArgument,
                  "a stored profile can only be compared with another stored profile: assay "
                  "profile RUN_A RUN_B");
    }
    ASSAY_RETURN_IF_ERROR(add_profiles(*store, *run, profiles));
  }
  return profiles;
}

Status write_profiles(const ProfileOptions& options, const Profiles& profiles) {
  std::optional<ProfileDifference> difference;
  if (profiles.cases.size() == 2) {
    difference = difference_of_profiles(profiles.cases[0], profiles.cases[1]);
  }
  std::vector<report::ProfiledCase> cases;
  std::vector<ProfileBreakdown> breakdowns;
  for (const auto& one : profiles.cases) {
    breakdowns.push_back(break_down_profile(one));
    cases.push_back({.breakdown = breakdowns.back(), .instructions = one.instructions});
  }
  const auto layers = layers_of_profiles(breakdowns);
  const auto console = [&](bool has_colour) {
    const auto top = static_cast<std::size_t>(options.top);
    std::string text;
    for (const auto& one : cases) {
      text += report::console_from_breakdown(one.breakdown, top, kProfileWidth, has_colour) + "\n";
      if (one.instructions) {
        text +=
            report::console_from_instructions(*one.instructions, top, kProfileWidth, has_colour) +
            "\n";
      }
    }
    if (difference) {
      text += report::console_from_difference(*difference, top, kProfileWidth, has_colour) + "\n";
    }
    if (layers && options.shows_layers) {
      text += report::console_from_layers(*layers, kProfileWidth, has_colour) + "\n";
    }
    return text;
  };
  const auto json = [&] {
    return text_from_json(report::document_from_profiles(profiles.run, cases, difference, layers)) +
           "\n";
  };
  return options.output.write({.console = console, .json = json});
}

Result<ExitCode> execute_profile(const ProfileOptions& options) {
  ASSAY_RETURN_IF_ERROR(options.output.check());
  Profiles profiles;
  if (find_run_reference(options.quick.model)) {
    ASSAY_ASSIGN_OR_RETURN(profiles, stored_profiles(options));
  } else {
    ASSAY_ASSIGN_OR_RETURN(auto request, profile_request(options));
    if (options.flags.run.is_dry_run) {
      for (const auto& cell : request.cases) {
        print_out("{}\n", label_of(cell));
      }
      return ExitCode::kOk;
    }
    ASSAY_ASSIGN_OR_RETURN(profiles, measure_profiles(options, std::move(request)));
  }
  ASSAY_RETURN_IF_ERROR(write_profiles(options, profiles));
  if (!options.trace.empty()) {
    ASSAY_RETURN_IF_ERROR(
        write_file_atomically(options.trace, report::trace_from_cases(profiles.cases)));
    log_line(LogLevel::kInfo, fmt::format("{}: open it at https://ui.perfetto.dev or in "
                                          "chrome://tracing",
                                          options.trace));
  }
  return profiles.cases.empty() ? ExitCode::kUnavailable : ExitCode::kOk;
}

}  // namespace

Execute declare_profile(CLI::App& app) {
  auto options = std::make_shared<ProfileOptions>();
  options->quick.declare_model(app);
  app.add_option("other", options->other,
                 "Second model or program (B); or compare two stored runs: RUN_A RUN_B");
  options->quick.declare_timing(app);
  app.add_option("--profile-iterations", options->profile_iterations,
                 "Number of inferences under the profiler")
      ->capture_default_str()
      ->check(CLI::Range(1, 100'000));
  app.add_option("--top", options->top, "Number of operators and functions to show")
      ->capture_default_str()
      ->check(CLI::Range(1, 100'000));
  app.add_flag("--layers", options->shows_layers,
               "Show the convolutions and matrix products of all cases side by side");
  app.add_option(
      "--trace", options->trace,
      "File to write the first profiled inferences to, for ui.perfetto.dev and chrome://tracing");
  app.add_flag("--callgrind", options->has_instructions,
               "Count instructions under valgrind, too, for machines whose times are too noisy");
  options->output.declare(app);
  options->flags.run.declare(app);
  options->flags.run.declare_job_timeout(app);
  options->flags.device.declare(app);
  app.remove_option(app.get_option("--only"));  // All that is named is wanted.
  options->flags.toolchain.declare(app);
  options->flags.store.declare(app);
  return [options] { return execute_profile(*options); };
}

}  // namespace assay::cli
