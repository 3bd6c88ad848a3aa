#include "assay/summary/parity.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/record/axes.h"
#include "assay/record/metric.h"
#include "assay/record/summary.h"

namespace assay {
namespace {

bool has_real_inputs(const CaseSummary& cell) {
  const auto& identity = cell.identity;
  return identity.contains("inputs") && identity.at("inputs").value("generator", "") == "file";
}

/// Key that both cases of a pair share. A case on random inputs has no scenario.
std::string key_of_pair(const CaseSummary& cell) {
  Json identity = cell.identity;
  identity.erase("inputs");
  identity.erase("scenario");
  return identity.dump() + cell.engine + " " + cell.device;
}

const AccuracyTable* find_table(const CaseSummary& cell, const std::string& against) {
  const auto found = std::ranges::find(cell.accuracy_tables, against, &AccuracyTable::against);
  return found == cell.accuracy_tables.end() ? nullptr : &*found;
}

/// SQNR of the worst output; absent if none has it. NaN is worst.
std::optional<double> sqnr_of(const AccuracyTable& table) {
  std::optional<double> worst;
  for (const auto& output : table.outputs) {
    if (const auto found = output.metrics.find("sqnr_db"); found != output.metrics.end()) {
      const double value = double_from_metric(found->second);
      worst = !worst || std::isnan(value) || value < *worst ? value : *worst;
    }
  }
  return worst;
}

std::string text_of(const AccuracyTable& table) {
  std::string verdict(name_of(table.accuracy));
  std::ranges::replace(verdict, '_', ' ');
  const auto sqnr = sqnr_of(table);
  return sqnr ? fmt::format("{} ({:.4g} dB)", verdict, *sqnr) : verdict;
}

bool is_apart(double random, double real) {
  if (std::isnan(random) || std::isnan(real)) {
    return std::isnan(random) != std::isnan(real);
  }
  return std::abs(std::min(random, kRoundingDb) - std::min(real, kRoundingDb)) > kParityDb;
}

/// A sentence on how the two differ; empty where they do not.
std::string difference_between(const AccuracyTable& random, const AccuracyTable& real) {
  const auto both = fmt::format("against {}: {} on random inputs, {} on real ones", real.against,
                                text_of(random), text_of(real));
  const auto random_sqnr = sqnr_of(random);
  const auto real_sqnr = sqnr_of(real);
  if (random.accuracy == Accuracy::kPass && real.accuracy != Accuracy::kPass) {
    return "random inputs hide what real ones show, " + both;
  }
  if (random.accuracy != real.accuracy) {
    return "random and real inputs disagree " + both;
  }
  if (random_sqnr && real_sqnr && is_apart(*random_sqnr, *real_sqnr)) {
    return fmt::format("random and real inputs differ by more than {:g} dB {}", kParityDb, both);
  }
  return {};
}

void warn_of_pair(CaseSummary& random, CaseSummary& real) {
  for (const auto& table : real.accuracy_tables) {
    const auto* other = find_table(random, table.against);
    if (other == nullptr) {
      continue;
    }
    if (auto difference = difference_between(*other, table); !difference.empty()) {
      random.warnings.push_back(difference);
      real.warnings.push_back(std::move(difference));
    }
  }
}

}  // namespace

void compare_inputs(std::vector<CaseSummary>& cases) {
  std::map<std::string, std::vector<CaseSummary*>> real_ones;  // In order, by key.
  for (auto& cell : cases) {
    if (has_real_inputs(cell)) {
      real_ones[key_of_pair(cell)].push_back(&cell);
    }
  }
  for (auto& random : cases) {
    if (real_ones.empty() || has_real_inputs(random)) {
      continue;
    }
    if (const auto found = real_ones.find(key_of_pair(random)); found != real_ones.end()) {
      for (auto* const real : found->second) {
        warn_of_pair(random, *real);
      }
    }
  }
}

}  // namespace assay
