#include "assay/runs/run_overview.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/json.h"
#include "assay/base/units.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/comparison.h"
#include "assay/record/conformance.h"
#include "assay/record/model_names.h"
#include "assay/record/repository.h"
#include "assay/record/run.h"
#include "assay/report/format.h"
#include "assay/report/text_table.h"
#include "assay/store/result_store.h"
#include "assay/store/stored_conformance.h"
#include "assay/summary/summarize.h"

namespace assay {
namespace {

constexpr std::size_t kLabelsWidth = 40;

constexpr const char* kCalibrationPurpose = "calibrate";

using VerdictCounts = std::vector<std::pair<std::string, int>>;

template <class Verdict>
VerdictCounts named_counts(const std::map<Verdict, int>& counts) {
  VerdictCounts named;
  for (const auto& [verdict, count] : counts) {
    named.emplace_back(name_of(verdict), count);
  }
  return named;
}

VerdictCounts counts_from_comparisons(const RunListing& listing) {
  std::map<ComparisonVerdict, int> counts;
  for (const auto verdict : listing.comparisons) {
    ++counts[verdict];
  }
  return named_counts(counts);
}

VerdictCounts counts_from_conformance(ResultStore& store, const Run& run) {
  const auto report = read_conform_report(store, run);
  return report ? named_counts(count_verdicts(*report, "")) : VerdictCounts();
}

VerdictCounts counts_from_cases(ResultStore& store, const Run& run) {
  const auto summary = summarize_run(store, run, {.has_launch_series = false});
  std::map<Verdict, int> counts;
  if (summary) {
    for (const auto& cell : summary->cases) {
      ++counts[cell.verdict];
    }
  }
  return named_counts(counts);
}

/// "3 pass, 1 fail"; a verdict that stands alone without its count.
std::string text_from_verdicts(const RunOverview& run) {
  std::string text;
  for (const auto& [verdict, count] : run.verdicts) {
    const bool is_answer = run.verdicts.size() == 1 && !run.listing.comparisons.empty();
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ",
                        is_answer ? "" : fmt::format("{} ", count), verdict);
  }
  return text;
}

std::string result_text(const RunOverview& run) {
  const auto verdicts = text_from_verdicts(run);
  const bool is_finished = run.listing.run.finished_unix_ns != 0;
  return is_finished        ? verdicts
         : verdicts.empty() ? std::string(run.state())
                            : fmt::format("{}: {}", run.state(), verdicts);
}

std::string joined(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

/// The models of a run by the names that tell them apart; by their own where `names` has none.
std::string joined_names(const RunListing& listing,
                         const std::map<std::string, std::string>& names) {
  std::vector<std::string> called;
  std::ranges::transform(listing.models, std::back_inserter(called),
                         [&names](const std::string& ref) {
                           const auto name = names.find(ref);
                           return name == names.end() ? short_name_of({.ref = ref}) : name->second;
                         });
  return joined(called);
}

std::map<std::string, std::string> model_names_of(std::span<const RunOverview> runs) {
  std::set<std::string> refs;
  for (const auto& run : runs) {
    // Each calibration lays its programs out in a folder of its own, which tells nothing.
    if (run.listing.run.purpose != kCalibrationPurpose) {
      refs.insert(run.listing.models.begin(), run.listing.models.end());
    }
  }
  const std::vector<std::string> all(refs.begin(), refs.end());
  return telling_names(all);
}

std::string verb_or_purpose(const RunListing& listing) {
  return listing.verb().empty() ? listing.run.purpose : listing.verb();
}

/// Short ids where each tells one run.
std::vector<std::string> shown_ids(std::span<const RunOverview> runs) {
  std::vector<std::string> ids;
  std::set<std::string> told;
  for (const auto& run : runs) {
    ids.push_back(short_run_id(run.listing.run.id));
    told.insert(ids.back());
  }
  if (told.size() < ids.size()) {
    std::ranges::transform(runs, ids.begin(),
                           [](const RunOverview& run) { return run.listing.run.id; });
  }
  return ids;
}

/// Whole labels as far as a column holds them, and how many more there are: "commit=… +2".
std::string brief_labels(const std::map<std::string, std::string>& labels) {
  std::string text;
  std::size_t left = 0;
  for (const auto& [key, value] : labels) {
    const auto one = (text.empty() ? "" : " ") + brief_label(key, value);
    const bool has_room = text.empty() || text.size() + one.size() <= kLabelsWidth;
    text += has_room ? one : "";
    left += has_room ? 0 : 1;
  }
  return left == 0 ? text : fmt::format("{} +{}", text, left);
}

report::TextColumn text_column(const char* title, std::size_t most_width, std::size_t least_width,
                               int importance) {
  return {.title = title,
          .is_left = true,
          .importance = importance,
          .most_width = most_width,
          .least_width = least_width};
}

}  // namespace

const char* state_of(const RunListing& listing) {
  return listing.run.finished_unix_ns != 0 ? "finished" : listing.is_in_use ? "running" : "stopped";
}

RunOverview overview_from_listing(ResultStore& store, RunListing listing) {
  RunOverview run{.listing = std::move(listing), .verdicts = {}};
  const auto& purpose = run.listing.run.purpose;
  if (!run.listing.comparisons.empty()) {
    run.verdicts = counts_from_comparisons(run.listing);
  } else if (purpose == kConformPurpose) {
    run.verdicts = counts_from_conformance(store, run.listing.run);
  } else if (purpose != kCalibrationPurpose) {  // It judges nothing.
    run.verdicts = counts_from_cases(store, run.listing.run);
  }
  return run;
}

std::string table_from_overviews(std::span<const RunOverview> runs, std::int64_t now_unix_ns,
                                 std::size_t width) {
  auto id = text_column("run", 0, 0, report::kImportant + 9);
  auto age = text_column("age", 0, 0, report::kImportant + 6);
  auto verb = text_column("verb", 0, 0, report::kImportant + 7);
  auto models = text_column("models", 40, 12, report::kImportant + 5);
  auto recipes = text_column("recipes", 40, 12, 10);
  auto result = text_column("result", 60, 12, report::kImportant + 8);
  auto labels = text_column("labels", kLabelsWidth + 4, 8, 20);
  const auto names = model_names_of(runs);
  const auto ids = shown_ids(runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto& listing = runs[i].listing;
    id.cells.push_back({.text = ids[i]});
    age.cells.push_back({.text = age_text(listing.run.started_unix_ns, now_unix_ns)});
    verb.cells.push_back({.text = verb_or_purpose(listing)});
    models.cells.push_back({.text = joined_names(listing, names)});
    recipes.cells.push_back({.text = joined(listing.recipes)});
    result.cells.push_back({.text = result_text(runs[i])});
    labels.cells.push_back({.text = brief_labels(listing.run.labels)});
  }
  const report::TextTable table{.columns = {id, age, verb, models, recipes, result, labels},
                                .groups = {}};
  return table.lay_out(width, /*has_colour=*/false).text;
}

std::string line_from_overview(const RunOverview& run) {
  const auto result = result_text(run);
  return fmt::format("{}, {}{}{}", iso8601_from_unix_ns(run.listing.run.started_unix_ns),
                     verb_or_purpose(run.listing), result.empty() ? "" : ", ", result);
}

std::string text_from_overview(const RunOverview& run, std::int64_t now_unix_ns) {
  const auto& listing = run.listing;
  const auto& stored = listing.run;
  const bool is_finished = stored.finished_unix_ns != 0;
  const auto took_ns = static_cast<double>(stored.finished_unix_ns - stored.started_unix_ns);
  const auto lines = std::to_array<std::pair<const char*, std::string>>({
      {"run", stored.id},
      {"name", stored.name},
      {"command", fmt::format("{}", fmt::join(stored.argv, " "))},
      {"state", is_finished ? fmt::format("finished in {}", text_from_duration_ns(took_ns))
                            : std::string(run.state())},
      {"started", fmt::format("{}, {} ago", iso8601_from_unix_ns(stored.started_unix_ns),
                              age_text(stored.started_unix_ns, now_unix_ns))},
      {"models", joined(listing.models)},
      {"recipes", joined(listing.recipes)},
      {"holds",
       fmt::format(
           "{}, {}, {}", report::counted(static_cast<std::size_t>(listing.cases), "case"),
           report::counted(static_cast<std::size_t>(listing.launches), "launch", "launches"),
           text_from_bytes(static_cast<double>(listing.bytes)))},
      {"result", text_from_verdicts(run)},
      {"labels", text_from_labels(stored.labels)},
  });
  std::string text;
  for (const auto& [title, value] : lines) {
    text += value.empty() ? "" : fmt::format("{:<8} {}\n", title, value);
  }
  return text + fmt::format("\nassay report {}\n", short_run_id(stored.id));
}

Json document_from_overviews(std::span<const RunOverview> runs) {
  Json document = {{"schema", "assay/runs/1"}, {"runs", Json::array()}};
  for (const auto& run : runs) {
    const auto& listing = run.listing;
    const auto& stored = listing.run;
    Json entry = {{"id", stored.id},
                  {"name", stored.name},
                  {"purpose", stored.purpose},
                  {"verb", listing.verb()},
                  {"argv", stored.argv},
                  {"state", run.state()},
                  {"started", iso8601_from_unix_ns(stored.started_unix_ns)},
                  {"finished", stored.finished_unix_ns == 0
                                   ? Json(nullptr)
                                   : Json(iso8601_from_unix_ns(stored.finished_unix_ns))},
                  {"models", listing.models},
                  {"recipes", listing.recipes},
                  {"verdicts", Json::object()},
                  {"cases", listing.cases},
                  {"launches", listing.launches},
                  {"bytes", listing.bytes},
                  {"labels", stored.labels}};
    for (const auto& [verdict, count] : run.verdicts) {
      entry["verdicts"][verdict] = count;
    }
    document["runs"].push_back(std::move(entry));
  }
  return document;
}

std::string brief_label(const std::string& key, const std::string& value) {
  constexpr std::size_t kShortestHash = 20;  // A number may consist of such digits, too.
  return value.empty()
             ? key
             : fmt::format("{}={}", key, value.size() < kShortestHash ? value : short_hash(value));
}

std::string text_from_labels(const std::map<std::string, std::string>& labels) {
  std::string text;
  for (const auto& [key, value] : labels) {
    text += fmt::format("{}{}{}{}", text.empty() ? "" : " ", key, value.empty() ? "" : "=", value);
  }
  return text;
}

std::string age_text(std::int64_t then_unix_ns, std::int64_t now_unix_ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  constexpr std::int64_t kMinute = 60 * kSecond;
  constexpr std::int64_t kHour = 60 * kMinute;
  constexpr std::int64_t kDay = 24 * kHour;
  const auto age = std::max<std::int64_t>(now_unix_ns - then_unix_ns, 0);
  for (const auto& [unit_ns, unit] : std::to_array<std::pair<std::int64_t, const char*>>(
           {{kDay, "d"}, {kHour, "h"}, {kMinute, "min"}})) {
    if (age >= 2 * unit_ns) {
      return fmt::format("{} {}", age / unit_ns, unit);
    }
  }
  return fmt::format("{} s", age / kSecond);
}

std::string short_run_id(const std::string& id) {
  // A UUIDv7 begins with its timestamp: 12 digits and the dash among them.
  constexpr std::size_t kTimestampDigits = 13;
  return id.substr(0, kTimestampDigits);
}

std::string line_from_listing(const RunListing& listing) {
  const auto names = telling_names(listing.models);
  return fmt::format("{}  {}  {}  {}", listing.run.id, verb_or_purpose(listing),
                     joined_names(listing, names),
                     text_from_bytes(static_cast<double>(listing.bytes)));
}

}  // namespace assay
