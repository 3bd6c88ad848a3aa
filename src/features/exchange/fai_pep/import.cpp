#include "features/exchange/fai_pep/import.h"

#include "features/exchange/fai_pep/composition.h"
#include "features/exchange/fai_pep/prepared_test.h"
#include "features/exchange/fai_pep/stand_ins.h"
#include "features/exchange/fai_pep/test_entry.h"

#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "assay/base/file_name.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/engine/program_places.h"

namespace assay::fai_pep {
namespace {

/// Sentences on what is named and not there.
std::vector<std::string> missing_of(const Composition& composition) {
  auto missing = composition.missing;
  for (const auto& [name, file] : composition.places) {
    std::error_code error;
    if (file.path.is_absolute() && !std::filesystem::exists(file.path, error)) {
      missing.push_back(fmt::format("{} is not at {}; {}", name, file.path.string(),
                                    file.is_stand_in
                                        ? "correct the flag that names it"
                                        : fmt::format("--file {}=PATH names another", name)));
    }
  }
  return missing;
}

Status check_present(const std::vector<PreparedTest>& tests) {
  std::set<std::string> missing;
  for (const auto& test : tests) {
    if (test.unavailable().empty()) {
      const auto sentences = missing_of(test.composition);
      missing.insert(sentences.begin(), sentences.end());
    }
  }
  return missing.empty() ? Status()
                         : fail(ErrorCode::kNotFound, fmt::format("{}", fmt::join(missing, "\n")));
}

/// Writes one program and its places; gives its path, which no other test of the file has.
Result<std::filesystem::path> write_test(const PreparedTest& test,
                                         const std::filesystem::path& folder,
                                         std::set<std::filesystem::path>& taken) {
  const auto base = folder / file_name_from(test.entry.format()) /
                    file_name_from(test.entry.name()) / file_name_from(test.entry.identifier());
  auto path = std::filesystem::path(base.string() + ".command.json");
  for (int i = 2; !taken.insert(path).second; ++i) {
    path = fmt::format("{}-{}.command.json", base.string(), i);
  }
  Json places = Json::object();
  for (const auto& [name, file] : test.composition.places) {
    places[name] = std::filesystem::absolute(file.path).string();
  }
  ASSAY_RETURN_IF_ERROR(write_file_atomically(path, text_from_json(test.program)));
  ASSAY_RETURN_IF_ERROR(write_file_atomically(places_file_of(path), text_from_json(places)));
  return path;
}

/// Each model on its own processors only.
Json exclusions(const std::vector<std::pair<std::string, std::string>>& models,
                const std::set<std::string>& cores) {
  Json rules = Json::array();
  for (const auto& [path, own] : models) {
    Json others = Json::array();
    for (const auto& one : cores) {
      if (one != own) {
        others.push_back(one);
      }
    }
    if (!others.empty()) {
      rules.push_back({{"model", path}, {"scenario", {{"cores", others}}}});
    }
  }
  return rules;
}

}  // namespace

Result<std::vector<ListedTest>> list_tests(const std::filesystem::path& file,
                                           const StandIns& stand_ins) {
  ASSAY_ASSIGN_OR_RETURN(const auto tests, prepared_tests(file, stand_ins));
  std::vector<ListedTest> listed;
  for (const auto& test : tests) {
    ListedTest one{.identifier = test.entry.identifier(),
                   .metric = test.entry.metric(),
                   .commands = {},
                   .unavailable = test.unavailable(),
                   .missing = missing_of(test.composition)};
    for (const auto& step : test.composition.steps) {
      one.commands.push_back(shown_argv(step, test.composition));
    }
    listed.push_back(std::move(one));
  }
  return listed;
}

Result<Json> import_specification(const std::filesystem::path& file, const StandIns& stand_ins,
                                  const std::filesystem::path& folder) {
  ASSAY_ASSIGN_OR_RETURN(const auto tests, prepared_tests(file, stand_ins));
  ASSAY_RETURN_IF_ERROR(check_present(tests));
  std::vector<std::pair<std::string, std::string>> models;
  std::set<std::string> cores;
  std::set<std::filesystem::path> taken;
  for (const auto& test : tests) {
    ASSAY_ASSIGN_OR_RETURN(const auto path, write_test(test, folder, taken));
    models.emplace_back(path.string(), test.cores);
    cores.insert(test.cores);
  }
  Json spec = {{"schema", "assay/spec/1"},
               {"name", file.stem().string()},
               {"models", Json::array()},
               {"engines", {"command"}},
               {"measure", {{"passes", {"timing"}}}},
               {"labels", {{"fai_pep", file.filename().string()}}}};
  for (const auto& [path, ignored] : models) {
    spec["models"].push_back(path);
  }
  if (cores != std::set<std::string>{kAnyCores}) {
    spec["scenario"] = {{"cores", cores}};
    spec["exclude"] = exclusions(models, cores);
  }
  return spec;
}

}  // namespace assay::fai_pep
