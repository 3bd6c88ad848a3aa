#include "assay/report/run_page_data.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/record/axes.h"
#include "assay/record/device_trace.h"
#include "assay/record/run.h"
#include "assay/record/summary.h"
#include "assay/report/bounded_document.h"
#include "assay/report/document.h"
#include "assay/report/format.h"
#include "assay/report/timing_text.h"
#include "assay/stats/thinning.h"

namespace assay::report {
namespace {

/// Points of all pictures of a kind together, and of one series.
constexpr std::size_t kMostRunPoints = 40'000;
constexpr std::size_t kMostOfSeries = 2'000;

/// The number of points of each of so many series.
std::size_t share_of(std::size_t series) {
  return std::min(kMostOfSeries, kMostRunPoints / std::max<std::size_t>(series, 1));
}

std::vector<std::size_t> drawn_of(const std::vector<std::int64_t>& values, std::size_t most) {
  return stats::thinned(std::vector<double>(values.begin(), values.end()), most);
}

std::vector<std::int64_t> chosen(const std::vector<std::int64_t>& values,
                                 const std::vector<std::size_t>& places) {
  std::vector<std::int64_t> some;
  some.reserve(places.size());
  std::ranges::transform(places, std::back_inserter(some),
                         [&](std::size_t i) { return values[i]; });
  return some;
}

struct Shares {
  std::size_t of_launch = 0;
  std::size_t of_channel = 0;
};

Shares shares_of(const RunSummary& summary) {
  std::size_t launches = 0;
  std::size_t channels = 0;
  for (const auto& cell : summary.cases) {
    launches += cell.launches.size();
    for (const auto& launch : cell.launches) {
      channels += launch.traces ? launch.traces->channels.size() : 0;
    }
  }
  return {.of_launch = share_of(launches), .of_channel = share_of(channels)};
}

void thin_traces(LaunchTraces& traces, std::size_t most) {
  for (auto& channel : traces.channels) {
    const auto places = drawn_of(channel.micros, most);
    if (channel.times_ns.size() == channel.micros.size()) {
      channel.times_ns = chosen(channel.times_ns, places);
      channel.micros = chosen(channel.micros, places);
    }
  }
}

Json thinned_launch(LaunchSeries launch, const Shares& shares) {
  const auto count = launch.execute_ns.size();
  const auto places = drawn_of(launch.execute_ns, shares.of_launch);
  launch.execute_ns = chosen(launch.execute_ns, places);
  if (launch.traces) {
    thin_traces(*launch.traces, shares.of_channel);
  }
  Json json = launch;
  if (places.size() < count) {
    json["drawn"] = places;
    json["inferences"] = count;
  }
  return json;
}

Json page_case(CaseSummary cell, const Shares& shares) {
  const auto launches = std::exchange(cell.launches, {});
  Json json = std::move(cell);
  for (const auto& launch : launches) {
    json["launches"].push_back(thinned_launch(launch, shares));
  }
  return json;
}

void remove_of_launches(Json& cell, std::string_view field) {
  for (auto& launch : cell.at("launches")) {
    launch.erase(std::string(field));
  }
}

/// Drops first what takes most space and says least about a large run.
constexpr auto kRunParts = std::to_array<OptionalPart>({
    {"the readings of sensors", [](Json& cell) { remove_of_launches(cell, "traces"); }},
    {"the events of profiles",
     [](Json& cell) {
       cell.erase("profile");
       cell.erase("breakdown");
     }},
    {"memory by stage and part", [](Json& cell) { cell.erase("memory"); }},
    {"the time of each inference",
     [](Json& cell) {
       for (auto& launch : cell.at("launches")) {
         launch["inferences"] = launch.value("inferences", launch.at("execute_ns").size());
         launch["execute_ns"] = Json::array();
         launch["drawn"] = Json::array();
       }
     }},
    {"what programs consist of", [](Json& cell) { cell["manifest"] = nullptr; }},
    {"single launches", [](Json& cell) { cell["launches"] = Json::array(); }},
    {"layers", [](Json& cell) { cell.erase("attribution"); }},
    {"the identity of cases",
     [](Json& cell) {
       cell["identity"] = Json::object();
       cell["effective_options"] = nullptr;
     }},
});

std::string verb_of(const Run& run) { return run.argv.size() > 1 ? run.argv[1] : run.purpose; }

/// Failures first, passes last.
int rank_of(const Json& cell) {
  constexpr auto kOrder =
      std::to_array({Verdict::kFail, Verdict::kInconclusive, Verdict::kSkipped, Verdict::kPass});
  const auto found = std::ranges::find(kOrder, cell.at("verdict"), [](Verdict verdict) {
    return Json(std::string(name_of(verdict)));
  });
  return static_cast<int>(found - kOrder.begin());
}

}  // namespace

std::string title_of(const RunSummary& summary) {
  std::vector<std::string> models;
  std::vector<std::string> recipes;
  const auto add = [](std::vector<std::string>& names, const std::string& name) {
    if (!name.empty() && std::ranges::find(names, name) == names.end()) {
      names.push_back(name);
    }
  };
  for (const auto& cell : summary.cases) {
    add(models, cell.model);
    add(recipes, cell.recipe);
  }
  constexpr std::size_t kMost = 3;
  return title_of_run(summary.run.name, joined_names(models, kMost), joined_names(recipes, kMost),
                      verb_of(summary.run));
}

std::string run_page_data(const RunSummary& summary) {
  auto head = document_head(summary);
  head["run"].erase("spec");
  head["title"] = title_of(summary);
  head["verb"] = verb_of(summary.run);
  head["times"] = sentence_on_times(summary.cases);
  const auto shares = shares_of(summary);
  Json cases = Json::array();
  for (const auto& cell : summary.cases) {
    cases.push_back(page_case(cell, shares));
  }
  return bounded_document(std::move(head), "cases", std::move(cases), kRunParts, rank_of);
}

}  // namespace assay::report
