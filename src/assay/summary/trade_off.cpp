#include "assay/summary/trade_off.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/result.h"
#include "assay/evaluate/gates.h"
#include "assay/record/axes.h"
#include "assay/record/metric.h"
#include "assay/record/summary.h"
#include "assay/record/trade_off.h"
#include "assay/summary/case_network.h"

namespace assay {
namespace {

/// Metrics that accuracy is shown by, the most telling first.
constexpr auto kAccuracyMetrics =
    std::to_array<std::string_view>({"top1_accuracy", "sqnr_db", "relative_l2_error"});
constexpr std::string_view kDefaultReference = "float32";

struct AccuracyKey {
  std::string metric;
  std::string against;

  /// Name of the metric in a case.
  [[nodiscard]] std::string name() const {
    return against == kDefaultReference ? metric : against + "." + metric;
  }
};

double number_from_estimate(const Estimate& estimate) {
  return double_from_metric({.value = estimate.value, .special = estimate.special});
}

bool is_higher_better(std::string_view metric) {
  const auto* definition = find_metric(metric);
  return definition != nullptr && definition->better == Better::kHigher;
}

/// Accuracy that is better when it is larger, whatever the sense of the metric; NaN: not known.
double accuracy_of(const TradeOffPoint& point, std::string_view metric) {
  const double value = number_from_estimate(point.accuracy);
  return is_higher_better(metric) ? value : -value;
}

bool is_timed(const CaseSummary& cell) {
  return has_comparable_time(cell) && cell.metrics.at("steady_ns").value > 0;
}

/// Keys in order of preference; float32 comes first among the references of a metric.
std::vector<AccuracyKey> accuracy_keys(const std::vector<const CaseSummary*>& cells) {
  std::set<std::string> kinds;
  for (const auto* cell : cells) {
    for (const auto& table : cell->accuracy_tables) {
      kinds.insert(table.against);
    }
  }
  kinds.erase(std::string(kDefaultReference));
  std::vector<AccuracyKey> keys;
  for (const auto metric : kAccuracyMetrics) {
    keys.push_back({std::string(metric), std::string(kDefaultReference)});
    std::ranges::transform(kinds, std::back_inserter(keys), [&](const std::string& kind) {
      return AccuracyKey{std::string(metric), kind};
    });
  }
  return keys;
}

/// The first of the keys that most cases have.
std::pair<AccuracyKey, std::ptrdiff_t> commonest_key(const std::vector<const CaseSummary*>& cells) {
  std::pair<AccuracyKey, std::ptrdiff_t> best;
  for (auto& key : accuracy_keys(cells)) {
    const auto count = std::ranges::count_if(cells, [name = key.name()](const CaseSummary* cell) {
      return cell->metrics.contains(name);
    });
    if (count > best.second) {
      best = {std::move(key), count};
    }
  }
  return best;
}

/// "qdq.sqnr_db" bounds accuracy, "steady_ns" does not.
bool is_about_accuracy(const GateResult& gate) {
  const auto definition = metric_of_gate(gate.metric);
  return definition && (*definition)->level == "output";
}

bool keeps_accuracy(const CaseSummary& cell) {
  return cell.accuracy == Accuracy::kPass &&
         std::ranges::none_of(cell.gates, [](const GateResult& gate) {
           return !gate.is_met && is_about_accuracy(gate);
         });
}

/// The strictest limit of all outputs; absent if the metric was not bounded.
std::optional<double> find_bound(const CaseSummary& cell, const AccuracyKey& key) {
  std::optional<double> strictest;
  for (const auto& table : cell.accuracy_tables) {
    for (const auto& output : table.outputs) {
      const auto found = output.bounds.find(key.metric);
      if (table.against == key.against && found != output.bounds.end()) {
        const double known = strictest.value_or(found->second);
        strictest = is_higher_better(key.metric) ? std::max(known, found->second)
                                                 : std::min(known, found->second);
      }
    }
  }
  return strictest;
}

/// The recipe, and what else differs between points: options, and builds of one recipe's engine.
std::string title_of_point(const CaseSummary& cell, const std::vector<const CaseSummary*>& cells) {
  std::vector<std::string_view> parts = {cell.recipe};
  if (std::ranges::any_of(cells,
                          [&](const auto* other) { return other->options != cell.options; })) {
    parts.emplace_back(cell.options);
  }
  const bool has_builds = std::ranges::any_of(cells, [&](const auto* other) {
    return other->recipe == cell.recipe && other->engine != cell.engine;
  });
  if (has_builds) {
    parts.emplace_back(cell.engine);
  }
  return fmt::format("{}", fmt::join(parts, " "));
}

/// `points` are sorted by time.
void mark_front(std::string_view metric, std::vector<TradeOffPoint>& points) {
  const TradeOffPoint* last = nullptr;  // On the front.
  for (auto& point : points) {
    const double accuracy = accuracy_of(point, metric);
    const double best = last == nullptr ? 0 : accuracy_of(*last, metric);
    const bool is_equal =
        last != nullptr && accuracy == best && point.latency_ns.value == last->latency_ns.value;
    point.is_on_front = !std::isnan(accuracy) && (last == nullptr || accuracy > best || is_equal);
    if (point.is_on_front) {
      last = &point;
    }
  }
}

/// Time first; of two that are equally fast the more accurate one.
bool is_before(std::string_view metric, const TradeOffPoint& a, const TradeOffPoint& b) {
  if (a.latency_ns.value != b.latency_ns.value) {
    return a.latency_ns.value < b.latency_ns.value;
  }
  const double a_accuracy = accuracy_of(a, metric);
  const double b_accuracy = accuracy_of(b, metric);
  if (std::isnan(a_accuracy) != std::isnan(b_accuracy)) {
    return std::isnan(b_accuracy);
  }
  if (a_accuracy != b_accuracy && !std::isnan(a_accuracy)) {
    return a_accuracy > b_accuracy;
  }
  return a.case_index < b.case_index;
}

std::string text_of_accuracy(const TradeOffPoint& point, std::string_view metric) {
  const auto* definition = find_metric(metric);
  ASSAY_CHECK(definition != nullptr);
  const double accuracy = number_from_estimate(point.accuracy);
  const bool is_exact = is_higher_better(metric) ? accuracy == HUGE_VAL : accuracy == 0;
  auto text = is_exact
                  ? std::string("exact")
                  : fmt::format("{} {}", definition->title, text_of_value(*definition, accuracy));
  return point.bound ? fmt::format("{} ({} {:.4g})", text,
                                   is_higher_better(metric) ? ">=" : "<=", *point.bound)
                     : text;
}

/// The other points that keep accuracy and may be faster, as far as the intervals tell.
std::vector<std::string> titles_not_told_apart(const TradeOff& trade_off,
                                               const TradeOffPoint& fastest) {
  const double most = fastest.latency_ns.high.value_or(fastest.latency_ns.value);
  std::vector<std::string> titles;
  for (const auto& point : trade_off.points) {
    const double least = point.latency_ns.low.value_or(point.latency_ns.value);
    if (&point != &fastest && point.keeps_accuracy && least <= most) {
      titles.push_back(point.title);
    }
  }
  return titles;
}

std::string text_of_fastest(const TradeOff& trade_off, const std::vector<CaseSummary>& cases) {
  const auto fastest = std::ranges::find(trade_off.points, true, &TradeOffPoint::keeps_accuracy);
  if (fastest == trade_off.points.end()) {
    return fmt::format("none of {} timed cases keeps accuracy", trade_off.points.size());
  }
  auto text = fmt::format("fastest that keeps accuracy: {}, {}, {}", fastest->title,
                          text_of_value(*find_metric("steady_ns"), fastest->latency_ns.value),
                          text_of_accuracy(*fastest, trade_off.metric));
  const auto timing = cases.at(static_cast<std::size_t>(fastest->case_index)).timing;
  if (timing != Timing::kSteady) {
    text += fmt::format("; its timing is {}", name_of(timing));
  }
  if (const auto titles = titles_not_told_apart(trade_off, *fastest); !titles.empty()) {
    text +=
        fmt::format("; not told apart from {}: their intervals overlap", fmt::join(titles, ", "));
  }
  return text;
}

TradeOff trade_off_of(const std::vector<const CaseSummary*>& cells, const AccuracyKey& key,
                      const std::vector<CaseSummary>& cases) {
  TradeOff trade_off{.model = cells.front()->model,
                     .shapes = cells.front()->shapes,
                     .metric = key.metric,
                     .against = key.against};
  for (const auto* cell : cells) {
    const auto accuracy = cell->metrics.find(key.name());
    if (accuracy != cell->metrics.end()) {
      trade_off.points.push_back({.case_index = static_cast<int>(cell - cases.data()),
                                  .title = title_of_point(*cell, cells),
                                  .latency_ns = cell->metrics.at("steady_ns"),
                                  .accuracy = accuracy->second,
                                  .bound = find_bound(*cell, key),
                                  .keeps_accuracy = keeps_accuracy(*cell)});
    }
  }
  std::ranges::sort(trade_off.points,
                    [&key](const auto& a, const auto& b) { return is_before(key.metric, a, b); });
  mark_front(key.metric, trade_off.points);
  trade_off.text = text_of_fastest(trade_off, cases);
  const auto& device = cells.front()->device;
  if (std::ranges::any_of(cases, [&](const auto& cell) { return cell.device != device; })) {
    trade_off.text = fmt::format("on {}, {}", device, trade_off.text);
  }
  return trade_off;
}

}  // namespace

std::vector<TradeOff> find_trade_offs(const std::vector<CaseSummary>& cases) {
  std::vector<std::vector<const CaseSummary*>> groups;
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  for (const auto& cell : cases) {
    if (!is_timed(cell)) {
      continue;
    }
    const auto [place, is_new] = places.try_emplace({network_of(cell), cell.device}, groups.size());
    if (is_new) {
      groups.emplace_back();
    }
    groups[place->second].push_back(&cell);
  }
  std::vector<TradeOff> trade_offs;
  for (const auto& cells : groups) {
    if (const auto [key, count] = commonest_key(cells); count > 1) {
      trade_offs.push_back(trade_off_of(cells, key, cases));
    }
  }
  return trade_offs;
}

}  // namespace assay
