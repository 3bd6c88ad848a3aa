#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/store/result_store.h"

namespace assay {

/// "finished", "running" (another process works on it) or "stopped".
const char* state_of(const RunListing& listing);

/// A run as lists show it.
struct RunOverview {
  RunListing listing;
  /// How many cases ended so: those of a conformance run by their own verdicts, of a comparison the
  /// verdict itself.
  std::vector<std::pair<std::string, int>> verdicts;

  [[nodiscard]] const char* state() const { return state_of(listing); }
};

/// Reads what was found in a run. A run whose rows are damaged has no verdicts.
RunOverview overview_from_listing(ResultStore& store, RunListing listing);

/// A row for each run. `width`: of the terminal; columns that find no room are left out.
std::string table_from_overviews(std::span<const RunOverview> runs, std::int64_t now_unix_ns,
                                 std::size_t width);

/// "2026-11-23T10:00:00Z, bench, 3 pass, 1 fail"
std::string line_from_overview(const RunOverview& run);

/// One run, a line for each thing that is known of it.
std::string text_from_overview(const RunOverview& run, std::int64_t now_unix_ns);

/// "assay/runs/1"
Json document_from_overviews(std::span<const RunOverview> runs);

/// "commit=0123456789ab": a label, where its value is a hash by the first twelve digits.
std::string brief_label(const std::string& key, const std::string& value);

/// "branch=main commit=abc"
std::string text_from_labels(const std::map<std::string, std::string>& labels);

/// "45 s", "12 min", "5 h", "3 d": how long ago.
std::string age_text(std::int64_t then_unix_ns, std::int64_t now_unix_ns);

/// "019ab3f2-4c1d": enough of an id to tell runs apart that did not begin in the same millisecond.
std::string short_run_id(const std::string& id);

/// A run as a removal names it: "019ab3f2-4c1d  bench  net.fake  1.2 MB".
std::string line_from_listing(const RunListing& listing);

}  // namespace assay
