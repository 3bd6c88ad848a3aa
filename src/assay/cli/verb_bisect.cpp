#include "features/repository/repository_spec.h"
#include "features/repository/wheel_spec.h"
#include "features/watch/find_culprit.h"
#include "features/watch/next_steps.h"
#include "features/watch/run_points.h"
#include "features/watch/verify.h"
#include "features/watch/watch_text.h"
#include "features/watch/watch_view.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/digest.h"
#include "assay/base/json.h"
#include "assay/base/log.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/base/units.h"
#include "assay/base/uuid.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/interrupt.h"
#include "assay/cli/progress.h"
#include "assay/cli/verb.h"
#include "assay/cli/watch_setup.h"
#include "assay/device/environment.h"
#include "assay/record/incident.h"
#include "assay/record/metric.h"
#include "assay/record/repository.h"
#include "assay/record/revision_build.h"

namespace assay::cli {
namespace {

constexpr std::string_view kLatest = "latest";

struct BisectOptions {
  WatchFlags flags;
  SearchSource source;
  std::string range;
  std::string only;
  std::string budget;
  std::string resume;  ///< "latest", or the id of an incident; empty: by the ends.
  bool searches_again = false;
  int most_pairs = 600;
};

/// Stops on an interrupt and at the end of the budget.
class BudgetProgress final : public Progress {
 public:
  BudgetProgress(bool is_quiet, std::int64_t budget_ns)
      : Progress(is_quiet), end_ns_(budget_ns == 0 ? 0 : monotonic_ns() + budget_ns) {}
  bool should_stop() override {
    return (end_ns_ != 0 && monotonic_ns() >= end_ns_) || Progress::should_stop();
  }

 private:
  std::int64_t end_ns_;
};

struct Ends {
  std::string good;
  std::string bad;
};

Result<Ends> ends_from_text(const std::string& text) {
  const auto at = text.find("..");
  if (at == std::string::npos || at == 0 || at + 2 >= text.size()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}': write GOOD..BAD, such as v1.0..HEAD", text));
  }
  return Ends{.good = text.substr(0, at), .bad = text.substr(at + 2)};
}

/// Takes the ends from the range, or from the versions given in place of a file.
Result<Ends> ends_of(const BisectOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const auto versions, version_range_from_text(options.flags.file));
  if (!versions || !options.resume.empty()) {
    return ends_from_text(options.range);
  }
  if (!options.range.empty() && options.resume.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' names the ends already: leave '{}' out", options.flags.file,
                            options.range));
  }
  return Ends{.good = versions->first, .bad = versions->last};
}

/// Measures the bad end together with the good one and picks the case. Errors: kNotFound: no case
/// and metric as asked for.
Result<watch::SeriesPoint> find_change(WatchSetup& setup, const watch::WatchView& view,
                                       const BisectOptions& options) {
  auto tools = setup.incident_tools();
  const auto& good = view.revisions.front();
  const auto& bad = view.revisions.back();
  ASSAY_ASSIGN_OR_RETURN(const auto before, tools.runner.build(good));
  ASSAY_ASSIGN_OR_RETURN(const auto after, tools.runner.build(bad));
  for (const auto& [revision, build] : {std::pair(good, before), std::pair(bad, after)}) {
    if (build.outcome == BuildOutcome::kFailed) {
      return fail(ErrorCode::kUnavailable,
                  fmt::format("the end {} does not build: {}; its log: {}",
                              short_hash(revision.hash), build.reason, build.log));
    }
  }
  const watch::Sitting sitting{.revision = bad, .build = after, .reference = before};
  ASSAY_ASSIGN_OR_RETURN(const auto run,
                         tools.runner.measure(sitting, "bisect", setup.spec.policy.rounds));
  ASSAY_ASSIGN_OR_RETURN(const auto points, watch::points_from_run(*setup.store, run, sitting));
  const watch::SeriesPoint* largest = nullptr;
  std::vector<std::string> metrics;
  for (const auto& one : points) {
    metrics.push_back(one.series.metric);
    const bool is_wanted =
        one.series.metric == options.source.metric && one.series.label.contains(options.only);
    if (is_wanted &&
        (largest == nullptr || std::abs(one.point.offset) > std::abs(largest->point.offset))) {
      largest = &one;
    }
  }
  if (largest == nullptr) {
    std::ranges::sort(metrics);
    metrics.erase(std::ranges::unique(metrics).begin(), metrics.end());
    return fail(ErrorCode::kNotFound,
                fmt::format("no case '{}' with the metric {}; there are: {}", options.only,
                            options.source.metric, fmt::join(metrics, ", ")));
  }
  return *largest;
}

/// Identifies what is measured.
std::string digest_of_spec(const RepositorySpec& spec) {
  return spec.measured.is_null() ? sha256_hex_of_file(spec.spec).value_or("")
                                 : digest_of_json(spec.measured);
}

Incident incident_from_change(const watch::SeriesPoint& change, const watch::WatchView& view,
                              const WatchSetup& setup) {
  const auto& [series, point] = change;
  const bool is_exact = point.low && point.low == point.high;
  const bool is_worse = (series.better == Better::kHigher) == (point.offset < 0);
  const auto now = unix_time_ns();
  return {.id = make_uuid7(),
          .repository = setup.spec.repository.id(),
          .environment = setup.environment.name,
          .machine = point.machine,
          .cases = {series.case_key},
          .metric = series.metric,
          .good = view.revisions.front().hash,
          .bad = view.revisions.back().hash,
          .opened_unix_ns = now,
          .state = is_exact ? IncidentState::kConfirmed : IncidentState::kNominated,
          .attribution = {{"title", fmt::format("{} {}", series.label, series.metric)},
                          {"is_worse", is_worse},
                          {"change", point.offset},
                          {"is_exact", is_exact},
                          {"label", series.label},
                          {"spec", digest_of_spec(setup.spec)}},
          .changed_unix_ns = now};
}

/// The incident that an earlier bisection of the same ends and metric opened and did not end.
const Incident* find_begun(const watch::WatchView& view, const std::string& spec,
                           const BisectOptions& options) {
  const auto found = std::ranges::find_if(view.incidents, [&](const Incident& incident) {
    return incident.attribution.value("spec", spec) == spec &&
           incident.good == view.revisions.front().hash &&
           incident.bad == view.revisions.back().hash && incident.metric == options.source.metric &&
           incident.attribution.value("label", "").contains(options.only) &&
           !is_closed(incident.state) && !(options.searches_again && !incident.culprit.empty());
  });
  return found == view.incidents.end() ? nullptr : &*found;
}

/// Changes within the range whose commit is known, where all of the range was measured: a search
/// would find them again.
std::vector<Incident> known_answers(const WatchSetup& setup, const watch::WatchView& view,
                                    const BisectOptions& options) {
  const auto& good = view.revisions.front();
  const auto& bad = view.revisions.back();
  const bool is_whole = view.progress_of(good) == watch::Progress::kMeasured &&
                        view.progress_of(bad) == watch::Progress::kMeasured &&
                        !view.has_open_between(good.position, bad.position);
  std::vector<Incident> known;
  if (!is_whole || options.searches_again || !options.resume.empty() ||
      !options.source.measured.empty()) {
    return known;
  }
  const auto machine = read_environment().id;
  std::ranges::copy_if(view.incidents, std::back_inserter(known), [&](const Incident& incident) {
    const bool is_here = !options.flags.executor.empty() || incident.machine == machine;
    const bool is_within = !incident.culprit.empty() && incident.culprit != good.hash &&
                           view.find_revision(incident.culprit) != nullptr;
    return is_here && is_within && incident.environment == setup.environment.name &&
           incident.metric == options.source.metric && incident.state != IncidentState::kFixed &&
           incident.attribution.value("label", "").contains(options.only);
  });
  return known;
}

Result<Incident> open_incident(WatchSetup& setup, const watch::WatchView& view,
                               const BisectOptions& options) {
  if (const auto* begun = find_begun(view, digest_of_spec(setup.spec), options)) {
    log_line(LogLevel::kInfo, "going on with the search that was begun before");
    return *begun;
  }
  ASSAY_ASSIGN_OR_RETURN(const auto change, find_change(setup, view, options));
  auto incident = incident_from_change(change, view, setup);
  if (incident.state == IncidentState::kConfirmed && change.point.offset == 0) {
    return fail(ErrorCode::kNotFound,
                fmt::format("{} is the same at both ends: there is nothing to find",
                            options.source.metric));
  }
  ASSAY_RETURN_IF_ERROR(setup.store->add_incident(incident));
  return incident;
}

Result<ExitCode> print_answer(const Incident& incident, const watch::WatchView& view) {
  print_out("{}", watch::text_of_incident(incident, view));
  if (!incident.culprit.empty()) {
    return ExitCode::kOk;
  }
  if (incident.state == IncidentState::kRejected) {
    print_out("  fresh pairs of both ends show no such change: it cannot be reproduced here\n");
  }
  for (const auto& hash :
       incident.attribution.value("/search/suspects"_json_pointer, std::vector<std::string>())) {
    print_out("  suspect    {}\n", hash);
  }
  return ExitCode::kInconclusive;
}

std::string text_of_forecast(const watch::SearchForecast& forecast, const BisectOptions& options) {
  constexpr double kSecond = 1e9;
  auto text = fmt::format(
      "the search takes about {:.0f} pairs, in nine of ten cases at most "
      "{:.0f}: about {} with the builds",
      std::ceil(forecast.pairs), std::ceil(forecast.most_pairs),
      text_from_duration_ns(kSecond * forecast.seconds));
  const auto budget_ns = duration_ns_from_text(options.budget);
  if (budget_ns && static_cast<double>(*budget_ns) < kSecond * forecast.seconds) {
    text += "; more than the budget: the same command goes on afterwards";
  }
  return text;
}

/// A search that found no culprit yet. Errors: kNotFound.
Result<Incident> find_search(const WatchSetup& setup, const std::string& name) {
  ASSAY_ASSIGN_OR_RETURN(auto incidents, setup.store->incidents_of(setup.spec.repository.id()));
  std::erase_if(incidents, [&](const Incident& incident) {
    const bool is_named = name == kLatest || incident.id.starts_with(name);
    return !is_named || incident.environment != setup.environment.name ||
           !incident.culprit.empty() || is_closed(incident.state) || incident.good.empty();
  });
  const auto latest = std::ranges::max_element(incidents, {}, &Incident::changed_unix_ns);
  if (latest == incidents.end()) {
    return fail(ErrorCode::kNotFound,
                fmt::format("--resume {}: {} has no search to go on with; write GOOD..BAD", name,
                            setup.spec.origin));
  }
  return *latest;
}

/// The options with which the resumed search began.
Result<BisectOptions> resumed(const WatchSetup& setup, BisectOptions options) {
  if (!options.resume.empty()) {
    ASSAY_ASSIGN_OR_RETURN(const auto incident, find_search(setup, options.resume));
    options.range = fmt::format("{}..{}", incident.good, incident.bad);
    options.source.metric = incident.metric;
    options.only = incident.attribution.value("label", "");
  }
  return options;
}

Result<ExitCode> bisect(WatchSetup& setup, const BisectOptions& given) {
  ASSAY_ASSIGN_OR_RETURN(const auto options, resumed(setup, given));
  ASSAY_ASSIGN_OR_RETURN(const auto ends, ends_of(options));
  ASSAY_ASSIGN_OR_RETURN(auto revisions, setup.range(ends.good, ends.bad));
  ASSAY_ASSIGN_OR_RETURN(
      const auto view,
      watch::read_view(*setup.store, setup.spec, setup.environment, std::move(revisions)));
  print_out("{} {}s after {}\n", view.revisions.size() - 1, noun_of_revisions(setup.spec),
            ends.good);
  if (const auto known = known_answers(setup, view, options); !known.empty()) {
    for (const auto& incident : known) {
      print_out("{}", watch::text_of_incident(incident, view));
    }
    print_out("known from earlier measurements; --again searches all the same\n");
    return ExitCode::kOk;
  }
  ASSAY_ASSIGN_OR_RETURN(auto incident, open_incident(setup, view, options));
  const auto tools = setup.incident_tools();
  const auto forecaster = [&](const watch::SearchForecast& forecast) {
    log_line(LogLevel::kInfo, text_of_forecast(forecast, options));
  };
  if (incident.state != IncidentState::kConfirmed) {
    ASSAY_ASSIGN_OR_RETURN(incident, watch::verify_incident(view, incident, tools));
  }
  if (incident.state == IncidentState::kConfirmed && incident.culprit.empty()) {
    ASSAY_ASSIGN_OR_RETURN(
        incident, watch::find_culprit(view, incident, tools,
                                      {.most_pairs = options.most_pairs, .tell = forecaster}));
  }
  return print_answer(incident, view);
}

Result<ExitCode> execute_bisect(const BisectOptions& options) {
  std::int64_t budget_ns = 0;
  if (!options.budget.empty()) {
    ASSAY_ASSIGN_OR_RETURN(budget_ns, duration_ns_from_text(options.budget));
  }
  catch_interrupts();
  BudgetProgress progress(options.flags.is_quiet, budget_ns);
  ASSAY_ASSIGN_OR_RETURN(const auto setup,
                         WatchSetup::open(options.flags, progress, options.source));
  ASSAY_RETURN_IF_ERROR(setup->runner->check_spec());
  auto code = bisect(*setup, options);
  if (!code && code.error().code == ErrorCode::kTimeout) {
    log_line(LogLevel::kInfo, "stopped; the same command goes on from here");
    return is_interrupted() ? ExitCode::kInterrupted : ExitCode::kInconclusive;
  }
  return code;
}

}  // namespace

Execute declare_bisect(CLI::App& app) {
  auto options = std::make_shared<BisectOptions>();
  options->flags.declare(app);
  options->source.metric = "steady_floor_ns";
  app.get_option("file")->description(
      "Repository file (docs/reference/repositories.md), or versions of a package: "
      "PACKAGE==GOOD..BAD");
  app.add_option("range", options->range, "Commits to search: GOOD..BAD; with --at, states");
  app.add_option(
      "--spec", options->source.measured,
      "Spec file, or finished program, to measure [default: that of the repository file]");
  app.add_option("--at", options->source.at,
                 "Search the states of the repository file, built from this commit");
  app.add_option("--only", options->only, "Part of the label of the case to look at");
  app.add_option("--metric", options->source.metric, "Metric that changed")->capture_default_str();
  app.add_option("--budget", options->budget,
                 "Time limit, such as 30min; the same command goes on later [default: none]");
  app.add_option("--resume", options->resume,
                 "Continue a stopped search of the file: latest, or the id of its incident");
  app.add_flag("--again", options->searches_again,
               "Search although the commit is known from earlier measurements");
  app.add_option("--most-pairs", options->most_pairs, "Largest number of launch pairs")
      ->capture_default_str()
      ->check(CLI::Range(10, 100'000));
  return [options] { return execute_bisect(*options); };
}

}  // namespace assay::cli
