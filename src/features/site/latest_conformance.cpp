#include "features/site/latest_conformance.h"

#include "features/site/index_rows.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/base/output.h"
#include "assay/record/conformance.h"

namespace assay::site {
namespace {

constexpr std::string_view kFullTier = "full";

/// Adds the verdicts of cases that no newer run has judged; how many.
int add_new_verdicts(const ConformRow& from, std::string_view not_run, ConformRow& latest) {
  int added = 0;
  for (const auto& [name, verdict] : from.verdicts) {
    const auto known = latest.verdicts.find(name);
    if (known != latest.verdicts.end() && (known->second != not_run || verdict == not_run)) {
      continue;
    }
    latest.verdicts[name] = verdict;
    if (const auto found = from.operators.find(name); found != from.operators.end()) {
      latest.operators[name] = found->second;
    }
    if (verdict == not_run) {
      continue;
    }
    ++added;
    if (from.run != latest.run) {
      latest.earlier[name] = from.run;
    }
  }
  return added;
}

}  // namespace

std::string setting_of(const ConformRow& row) {
  return text_from_json(Json{row.suite, row.tier == kDrawnTier, row.recipe, row.engine, row.options,
                             row.device, row.device_class});
}

bool ConformCover::take(const std::string& tier, const std::string& shard, bool is_whole) {
  if (is_complete() || covered_.contains(tier)) {
    return false;
  }
  if (is_whole && (shard.empty() || is_sharing_whole(tier, shard))) {
    covered_.insert(tier);
  }
  return true;
}

bool ConformCover::is_complete() const {
  return covered_.contains(std::string(kFullTier)) || covered_.contains(std::string(kDrawnTier));
}

bool ConformCover::is_sharing_whole(const std::string& tier, const std::string& shard) {
  constexpr int kTimes = 2;
  const auto slash = shard.find('/');
  std::size_t count = 0;
  const auto* const begin = shard.data() + std::min(shard.size(), slash + 1);
  std::from_chars(begin, shard.data() + shard.size(), count);
  if (slash == std::string::npos || count == 0) {
    return false;
  }
  auto& counts = shards_[tier + shard.substr(slash)];
  ++counts[shard];
  return counts.size() == count &&
         std::ranges::all_of(counts, [](const auto& entry) { return entry.second >= kTimes; });
}

ConformRow latest_from_runs(const std::vector<ConformRow>& rows) {
  const std::string not_run(name_of(ConformVerdict::kNotRun));
  const auto judged = std::ranges::find_if(rows, [&not_run](const ConformRow& row) {
    return std::ranges::any_of(row.verdicts,
                               [&not_run](const auto& entry) { return entry.second != not_run; });
  });
  auto latest = judged == rows.end() ? rows.front() : *judged;
  latest.verdicts.clear();
  latest.operators.clear();
  latest.counts.clear();
  for (const auto& row : rows) {
    if (const int added = add_new_verdicts(row, not_run, latest); added > 0) {
      latest.sources.push_back({row.run, row.started_unix_ns, added});
    }
  }
  for (const auto& [name, verdict] : latest.verdicts) {
    ++latest.counts[verdict];
  }
  return latest;
}

}  // namespace assay::site
