#include "assay/report/memory.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/text.h"
#include "assay/base/units.h"
#include "assay/record/launch.h"
#include "assay/record/summary.h"
#include "assay/report/format.h"
#include "assay/report/text_table.h"

namespace assay::report {
namespace {

constexpr std::string_view kDeclared = "declared.";

constexpr auto kTitles = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"program_files", "program files, mapped"},
    {"libraries", "executable and libraries"},
    {"other_files", "other files, mapped"},
    {"shared_memory", "shared memory"},
    {"stack", "stack of the main thread"},
    {"malloc", "malloc, live"},
    {"malloc_other", "malloc, live, not declared"},
    {"never_touched", "of live malloc, never touched"},
    {"malloc_unused", "malloc, free and overhead"},
    {"unattributed", "unattributed"},
});

/// Exact to the byte in KiB, as all but what malloc counts are whole pages.
std::string kib(std::int64_t bytes) {
  return fmt::format("{:.1f}", static_cast<double>(bytes) / 1024);
}

/// Names of all parts of all stages, as the stages name them; "unattributed" last.
std::vector<std::string> part_names(const MemoryReport& memory) {
  std::vector<std::string> names;
  for (const auto& stage : memory.stages) {
    for (auto part = stage.parts.begin(); part != stage.parts.end(); ++part) {
      if (std::ranges::find(names, part->name) != names.end()) {
        continue;
      }
      // Beside its neighbour of this stage, not behind all that other stages have.
      const auto next = std::find_if(part, stage.parts.end(), [&](const NamedBytes& later) {
        return std::ranges::find(names, later.name) != names.end();
      });
      const auto at =
          next == stage.parts.end() ? names.end() : std::ranges::find(names, next->name);
      names.insert(at, part->name);
    }
  }
  return names;
}

std::string cell_of(const MemoryStage& stage, std::string_view name) {
  const auto found = std::ranges::find(stage.parts, name, &NamedBytes::name);
  return found == stage.parts.end() ? "" : kib(found->bytes);
}

/// Why a part is below zero, which a size cannot be.
void explain_negative(const MemoryReport& memory, std::vector<std::string>& lines) {
  const auto is_negative = [&](std::string_view name) {
    return std::ranges::any_of(memory.stages, [&](const MemoryStage& stage) {
      const auto found = std::ranges::find(stage.parts, name, &NamedBytes::name);
      return found != stage.parts.end() && found->bytes < 0;
    });
  };
  if (is_negative("malloc_other")) {
    lines.emplace_back(
        "malloc, not declared, is negative: the engine declares memory that it did not take from "
        "malloc; it lies in other parts");
  }
  if (is_negative("malloc_unused")) {
    lines.emplace_back(
        "malloc, free and overhead, is negative: small blocks count as touched, and some are not");
  }
  if (is_negative("unattributed")) {
    lines.emplace_back(
        "unattributed is negative: the engine declares memory that is not there, or was not "
        "touched");
  }
}

void add_malloc(const MemoryReport& memory, std::vector<std::string>& lines) {
  if (!memory.allocations_unavailable.empty()) {
    lines.push_back("malloc: unavailable: " + printable(memory.allocations_unavailable));
    return;
  }
  const auto steady = std::ranges::find(memory.stages, "steady", &MemoryStage::name);
  if (steady == memory.stages.end()) {
    return;
  }
  const auto& counts = steady->allocations;
  if (!counts) {
    return;
  }
  auto line =
      fmt::format("malloc: {} live at steady, {} at the most, in {} allocations",
                  text_from_bytes(static_cast<double>(counts->live_bytes)),
                  text_from_bytes(static_cast<double>(counts->peak_live_bytes)), counts->count);
  if (memory.inference_allocations && memory.inferences > 0) {
    line += fmt::format("; {:g} allocations an inference",
                        static_cast<double>(*memory.inference_allocations) / memory.inferences);
  }
  lines.push_back(std::move(line));
}

void add_peaks(const MemoryReport& memory, std::vector<std::string>& lines) {
  for (const auto& one : memory.declared) {
    if (one.is_peak && one.bytes > 0) {
      lines.push_back(fmt::format("declared as a peak, not held now: {} {}", printable(one.name),
                                  text_from_bytes(static_cast<double>(one.bytes))));
    }
  }
}

}  // namespace

std::string title_of_part(std::string_view name) {
  if (name.starts_with(kDeclared)) {
    return "declared: " + printable(name.substr(kDeclared.size()));
  }
  const auto found =
      std::ranges::find(kTitles, name, &std::pair<std::string_view, std::string_view>::first);
  return found == kTitles.end() ? printable(name) : std::string(found->second);
}

TextTable memory_table(const MemoryReport& memory) {
  TextTable table{.indent = 2};
  const auto names = part_names(memory);
  if (names.empty()) {
    return table;
  }
  TextColumn parts{.title = "resident", .is_left = true, .importance = 100};
  for (const auto& name : names) {
    parts.cells.push_back({title_of_part(name)});
  }
  parts.cells.push_back({"sum: resident set"});
  table.columns.push_back(std::move(parts));
  for (const auto& stage : memory.stages) {
    TextColumn column{.title = printable(stage.name), .unit = "KiB", .importance = 90};
    for (const auto& name : names) {
      column.cells.push_back({cell_of(stage, name)});
    }
    column.cells.push_back({kib(stage.rss_bytes)});
    table.columns.push_back(std::move(column));
  }
  return table;
}

std::vector<std::string> memory_lines(const CaseSummary& cell) {
  std::vector<std::string> lines;
  if (!cell.memory) {
    return lines;
  }
  const auto& memory = *cell.memory;
  for (const auto& stage : memory.stages) {
    lines.push_back(fmt::format(
        "{}: RSS {}, PSS {}, private dirty {}, peak RSS {}, {} page faults{}",
        printable(stage.name), text_from_bytes(static_cast<double>(stage.rss_bytes)),
        text_from_bytes(static_cast<double>(stage.pss_bytes)),
        text_from_bytes(static_cast<double>(stage.private_dirty_bytes)),
        text_from_bytes(static_cast<double>(stage.peak_rss_bytes)), stage.minor_faults,
        stage.major_faults > 0 ? fmt::format(" and {} major ones", stage.major_faults) : ""));
  }
  add_malloc(memory, lines);
  add_peaks(memory, lines);
  explain_negative(memory, lines);
  lines.push_back(fmt::format(
      "a reading costs {}{}", text_from_duration_ns(static_cast<double>(memory.probe_ns)),
      memory.probe_bytes ? fmt::format(" and {} of malloc",
                                       text_from_bytes(static_cast<double>(*memory.probe_bytes)))
                         : ""));
  for (const auto& leak : cell.leaks) {
    lines.push_back(leak.text);
  }
  return lines;
}

}  // namespace assay::report
