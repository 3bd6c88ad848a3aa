// The launches of runs, one JSON line each, for record.py.
//
//     assay-validation-export STORE RUN [RUN…]
//
// {"run", "comparison", "pair", "side", "is_replaced", "floor_ns", "wall_ns", "finding",
//  "steady_first", "execute_ns": […], "whole_ns": […]}; whole is bind + execute + fetch.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/record/comparison.h"
#include "assay/record/launch.h"
#include "assay/store/result_store.h"
#include "assay/summary/steady_part.h"

namespace assay {
namespace {

using Replaced = std::set<std::pair<std::string, int>>;

std::vector<std::int64_t> whole_of(const PhaseSamples& samples) {
  std::vector<std::int64_t> whole;
  whole.reserve(samples.execute_ns.size());
  for (std::size_t i = 0; i < samples.execute_ns.size(); ++i) {
    whole.push_back(samples.bind_ns[i] + samples.execute_ns[i] + samples.fetch_ns[i]);
  }
  return whole;
}

Json json_from(const std::string& run, const Launch& launch, const Measurement& measurement,
               const Replaced& replaced) {
  const auto part = find_steady_part(measurement);
  const auto& times = measurement.samples.execute_ns;
  Json json = {{"run", run},
               {"wall_ns", launch.end.wall_ns},
               {"finding", name_of(part.finding)},
               {"steady_first", part.first},
               {"floor_ns", *std::ranges::min_element(std::span(times).subspan(part.first))},
               {"execute_ns", times},
               {"whole_ns", whole_of(measurement.samples)}};
  if (const auto& place = launch.place) {
    json["comparison"] = place->comparison;
    json["pair"] = place->pair;
    json["side"] = name_of(place->side);
    json["is_replaced"] = replaced.contains({place->comparison, place->pair});
  }
  return json;
}

Status export_run(ResultStore& store, const std::string& reference) {
  ASSAY_ASSIGN_OR_RETURN(const auto run, store.get_run(reference));
  ASSAY_ASSIGN_OR_RETURN(const auto comparisons, store.comparisons_of_run(run.id));
  Replaced replaced;
  for (const auto& comparison : comparisons) {
    for (const int pair : comparison.replaced_pairs) {
      replaced.emplace(comparison.id, pair);
    }
  }
  ASSAY_ASSIGN_OR_RETURN(const auto attempts, store.attempts_of_run(run.id));
  for (const auto& attempt : attempts) {
    ASSAY_ASSIGN_OR_RETURN(const auto launches, store.launches_of_attempt(attempt.id));
    for (const auto& launch : launches) {
      const bool is_completed = launch.outcome == Outcome::kCompleted;
      if (const auto& measurement = launch.measurement; is_completed && measurement) {
        fmt::print("{}\n", json_from(run.id, launch, *measurement, replaced).dump());
      }
    }
  }
  return {};
}

Status run(std::span<char*> arguments) {
  ASSAY_ASSIGN_OR_RETURN(const auto store, open_sqlite_store(arguments[1]));
  for (const char* reference : arguments.subspan(2)) {
    ASSAY_RETURN_IF_ERROR(export_run(*store, reference));
  }
  return {};
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: assay-validation-export STORE RUN [RUN…]\n", stderr);
    return 2;
  }
  try {
    const auto status = assay::run({argv, static_cast<std::size_t>(argc)});
    if (!status) {
      fmt::print(stderr, "assay-validation-export: {}\n", status.error().message);
    }
    return status ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "assay-validation-export: %s\n", error.what());
    return 4;
  }
}
