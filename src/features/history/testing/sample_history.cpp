#include "features/history/testing/sample_history.h"

#include "features/history/history.h"
#include "features/history/series.h"
#include "features/history/verified_change.h"

#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <utility>
#include <vector>

namespace assay::report {
namespace {

constexpr int kCommits = 120;
constexpr std::int64_t kStartNs = std::int64_t{1'767'225'600} * 1'000'000'000;  // 2026-01-01
constexpr std::int64_t kHourNs = std::int64_t{3600} * 1'000'000'000;

/// About normal with a standard deviation of 1, the same everywhere.
class HistoryNoise {
 public:
  explicit HistoryNoise(std::uint64_t seed) : state_(seed) {}
  double next() {
    double sum = 0;
    for (int i = 0; i < 12; ++i) {
      state_ = state_ * 6'364'136'223'846'793'005ULL + 1'442'695'040'888'963'407ULL;
      sum += static_cast<double>(state_ >> 11) / 9'007'199'254'740'992.0;
    }
    return sum - 6;
  }

 private:
  std::uint64_t state_;
};

history::Series empty_series(std::string name, std::string metric, std::string unit) {
  return {.name = std::move(name),
          .metric = std::move(metric),
          .unit = std::move(unit),
          .environments = {"desk", "rack"},
          .references = {""}};
}

void add_point(history::Series& series, int commit, double value, std::uint32_t environment = 0) {
  const double first = series.points.empty() ? value : series.points.front().value;
  series.points.push_back(
      {.position = commit,
       .commit = fmt::format("{:08x}f00d", 0x9E3779B9U * (static_cast<unsigned>(commit) + 1U)),
       .unix_ns = kStartNs + std::int64_t{3} * commit * kHourNs,
       .value = value,
       .offset = std::log(value / first),
       .environment = environment});
}

history::Series stepped(const std::string& name, double level, double step, std::uint64_t seed) {
  auto series = empty_series(name, "steady_ns", "ns");
  HistoryNoise noise(seed);
  for (int i = 0; i < kCommits; ++i) {
    const double spike = i == 30 ? 1.3 : 1;
    add_point(series, i, level * spike * (i < 70 ? 1 : step) * std::exp(0.01 * noise.next()));
  }
  return series;
}

history::Series on_two_machines() {
  auto series = empty_series("resnet18 int8, 4 threads", "steady_ns", "ns");
  HistoryNoise noise(3);
  for (int i = 0; i < kCommits; ++i) {
    const double level = (i < 50 ? 9.2e6 : 7.1e6) * (i + 1 == kCommits ? 1.08 : 1);
    add_point(series, i, level * std::exp(0.01 * noise.next()), i < 50 ? 0 : 1);
  }
  return series;
}

history::Series without_noise() {
  auto series = empty_series("mobilenet_v2 int8", "program_bytes", "bytes");
  for (int i = 0; i < kCommits; ++i) {
    add_point(series, i, i < 70 ? 3'560'000 : 3'680'000);
    auto& point = series.points.back();
    point.has_interval = true;
    point.low = point.high = point.offset;
  }
  return series;
}

history::Series drifting_and_silent() {
  auto series = empty_series("keywords fp32", "first_ns", "ns");
  HistoryNoise noise(4);
  for (int i = 0; i < 90; ++i) {
    add_point(series, i, 4.1e5 * std::exp(0.0006 * i + 0.004 * noise.next()));
  }
  return series;
}

std::vector<history::VerifiedChange> verified_by_pairs(const history::Series& series) {
  const auto& before = series.points[69];
  const auto& culprit = series.points[70];
  history::VerifiedChange confirmed{
      .series = series.name,
      .metric = series.metric,
      .state = "confirmed",
      .commit = culprit.commit,
      .subject = "conv: choose the tile by the number of channels",
      .position = culprit.position,
      .unix_ns = culprit.unix_ns,
      .last_before = before.commit,
      .first_after = culprit.commit,
      .effect = "+4.9 % [+4.4 %, +5.3 %], 20 pairs",
      .details = {"conv_dw #1 +23 %, 98 % of the difference", "changed src/ops/conv_dw.cpp"},
      .command = "assay watch engine.json --base 0123456789ab --head ba9876543210"};
  auto rejected = confirmed;
  rejected.state = "rejected";
  return {std::move(confirmed), std::move(rejected)};
}

}  // namespace

history::History sample_history() {
  std::vector<history::Series> all;
  all.push_back(stepped("mobilenet_v2 int8, 1 thread", 2.31e6, 1.05, 1));
  all.push_back(stepped("resnet18 int8, 1 thread", 31.2e6, 0.96, 2));
  all.push_back(on_two_machines());
  all.push_back(without_noise());
  all.push_back(drifting_and_silent());
  auto history = history::make_history("times.csv", std::move(all), {});
  add_verified(history, verified_by_pairs(history.series.front().series));
  return history;
}

}  // namespace assay::report
