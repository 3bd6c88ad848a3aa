#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "assay/record/conformance.h"
#include "assay/report/text_table.h"

namespace assay::report {

/// "conform operators, quick tier: 812 cases, 700 pass, 60 unsupported, 3 new failures".
std::string headline_of(const ConformReport& report);

/// Names that tell results of one case apart: the recipe, and where results of the recipe differ in
/// them, options and engine.
class SettingNames {
 public:
  explicit SettingNames(const ConformReport& report);

  /// "executorch/portable", "executorch/portable threads=2 executorch@1.6.0".
  [[nodiscard]] std::string of(const ConformResult& result) const;

  /// "aten.add.Tensor/float32/3 executorch/portable threads=2": whatever options it has.
  [[nodiscard]] std::string title_of(const ConformResult& result) const;

 private:
  [[nodiscard]] std::string engine_of(const ConformResult& result) const;

  std::set<std::string> several_engines_;  ///< Recipes.
  std::set<std::string> several_options_;
};

/// One row a setting: how many cases have each verdict, what is new, how much was delegated.
TextTable verdict_table(const ConformReport& report);

/// Results that are new failures, or that pass though they are listed; in order.
std::vector<const ConformResult*> findings_of(const ConformReport& report);

/// "fail_numeric: output 0: …", "passes, though it is listed: …".
std::string text_of_finding(const ConformResult& result);

/// Verdicts that changed since the earlier run: "newly failing: …".
std::vector<std::string> lines_of_changes(const ConformReport& report);

/// Entries of the lists that this run speaks against, and what to do about them.
std::vector<std::string> lines_of_stale(const ConformReport& report);

/// The expectations of the lists, by setting: "executorch/portable: 3 known failures: aten.mul (2),
/// aten.sin". `most`: names on a line; the others are counted.
std::vector<std::string> lines_of_expected(const ConformReport& report, std::size_t most);

/// Says how many core operators have cases, and why the others have none.
std::vector<std::string> lines_of_coverage(const ConformReport& report);

/// Where the time went, and how many cases a second that made.
std::string line_of_time(const ConformReport& report);

/// Notes for the reader, such as cases that failed in a joint program and pass alone.
std::vector<std::string> notes_of(const ConformReport& report);

}  // namespace assay::report
