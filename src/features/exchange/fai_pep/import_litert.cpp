#include "features/exchange/fai_pep/composition.h"
#include "features/exchange/fai_pep/import.h"
#include "features/exchange/fai_pep/prepared_test.h"
#include "features/exchange/fai_pep/stand_ins.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/md5.h"
#include "assay/base/result.h"

namespace assay::fai_pep {
namespace {

/// Threads and processors that a test asks for.
using Asked = std::pair<int, std::string>;

/// The graphs of a file, and the conditions that its tests ask for.
struct LitertCells {
  std::map<std::string, std::set<Asked>> of_graph;
  std::set<int> threads;
  std::set<std::string> cores;
  std::set<int> iterations;
  std::set<int> warmup;
};

/// The graph of a TFLite test, there and with its md5: litert takes it as it is.
Result<std::string> checked_graph(const PreparedTest& test) {
  constexpr const char* kGraph = "files.graph";
  const auto found = test.composition.places.find(kGraph);
  if (test.entry.format() != "tflite" || found == test.composition.places.end()) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("{}: --as litert is for tests of TFLite's format with a graph",
                            test.entry.file.string()));
  }
  const auto& file = found->second;
  std::error_code error;
  if (!file.path.is_absolute() || !std::filesystem::exists(file.path, error)) {
    return fail(ErrorCode::kNotFound, fmt::format("{} is not at {}; name it with --file {}=PATH",
                                                  kGraph, file.path.string(), kGraph));
  }
  ASSAY_ASSIGN_OR_RETURN(const auto md5, md5_hex_of_file(file.path));
  if (!file.md5.empty() && md5 != file.md5) {
    return fail(ErrorCode::kCorrupt, fmt::format("{} ({}) has the md5 {}, and must have {}", kGraph,
                                                 file.path.string(), md5, file.md5));
  }
  return file.path.string();
}

/// "--num_threads=4" of any step of a test; absent: the program's choice.
std::optional<int> threads_of(const Composition& composition) {
  constexpr std::string_view kFlag = "--num_threads=";
  for (const auto& step : composition.steps) {
    for (const auto& argument : step) {
      if (argument.starts_with(kFlag)) {
        int threads = 0;
        std::from_chars(argument.data() + kFlag.size(), argument.data() + argument.size(), threads);
        return threads > 0 ? std::optional(threads) : std::nullopt;
      }
    }
  }
  return std::nullopt;
}

Status add_test(const PreparedTest& test, LitertCells& cells) {
  ASSAY_ASSIGN_OR_RETURN(const auto graph, checked_graph(test));
  const int threads = threads_of(test.composition).value_or(1);
  cells.of_graph[graph].emplace(threads, test.cores);
  cells.threads.insert(threads);
  cells.cores.insert(test.cores);
  cells.iterations.insert(std::max(1, test.entry.test.value("iter", 1)));
  cells.warmup.insert(std::max(0, test.entry.test.value("warmup", 0)));
  return {};
}

/// A spec has one number of iterations and one of the warm-up, for all of its cases.
Status check_alike(const std::filesystem::path& file, const LitertCells& cells) {
  for (const auto& [key, values] :
       {std::tuple("iter", &cells.iterations), std::tuple("warmup", &cells.warmup)}) {
    if (values->size() > 1) {
      return fail(ErrorCode::kUnsupported,
                  fmt::format("{}: the tests differ in {} ({}), and --as litert measures all of "
                              "them alike; split the file, or import it without --as",
                              file.string(), key, fmt::join(*values, ", ")));
    }
  }
  return {};
}

/// The combinations of threads and processors that no test of a graph asks for.
Json excluded_cells(const LitertCells& cells) {
  Json rules = Json::array();
  for (const auto& [graph, asked] : cells.of_graph) {
    for (const int threads : cells.threads) {
      for (const auto& cores : cells.cores) {
        if (asked.contains({threads, cores})) {
          continue;
        }
        Json rule = {{"model", graph}, {"options", {{"threads", threads}}}};
        if (cells.cores.size() > 1) {
          rule["scenario"] = {{"cores", cores}};
        }
        rules.push_back(std::move(rule));
      }
    }
  }
  return rules;
}

Json spec_of_cells(const std::filesystem::path& file, const LitertCells& cells) {
  Json spec = {{"schema", "assay/spec/1"},
               {"name", file.stem().string()},
               {"models", Json::array()},
               {"engines", {"litert"}},
               {"options", {{"threads", cells.threads}}},
               {"measure",
                {{"warmup", *cells.warmup.begin()},
                 {"iterations", *cells.iterations.begin()},
                 {"passes", {"timing"}}}},
               {"labels", {{"fai_pep", file.filename().string()}}}};
  for (const auto& [graph, ignored] : cells.of_graph) {
    spec["models"].push_back(graph);
  }
  if (cells.cores != std::set<std::string>{kAnyCores}) {
    spec["scenario"] = {{"cores", cells.cores}};
  }
  if (auto rules = excluded_cells(cells); !rules.empty()) {
    spec["exclude"] = std::move(rules);
  }
  return spec;
}

}  // namespace

Result<LitertImport> import_for_litert(const std::filesystem::path& file,
                                       const StandIns& stand_ins) {
  ASSAY_ASSIGN_OR_RETURN(const auto tests, prepared_tests(file, stand_ins));
  LitertCells cells;
  std::vector<std::string> left_out;
  for (const auto& test : tests) {
    if (const auto reason = test.unavailable(); !reason.empty()) {
      left_out.push_back(fmt::format("{}: {}", test.entry.identifier(), reason));
    } else {
      ASSAY_RETURN_IF_ERROR(add_test(test, cells));
    }
  }
  if (cells.of_graph.empty()) {
    return fail(ErrorCode::kUnsupported, fmt::format("{}: no test can run here:\n{}", file.string(),
                                                     fmt::join(left_out, "\n")));
  }
  ASSAY_RETURN_IF_ERROR(check_alike(file, cells));
  return LitertImport{.spec = spec_of_cells(file, cells), .left_out = std::move(left_out)};
}

}  // namespace assay::fai_pep
