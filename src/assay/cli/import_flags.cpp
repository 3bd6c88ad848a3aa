#include "assay/cli/import_flags.h"

#include "features/exchange/fai_pep/import.h"
#include "features/exchange/fai_pep/specification.h"
#include "features/exchange/fai_pep/stand_ins.h"

#include <CLI/CLI.hpp>
#include <cstddef>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/base/shell.h"
#include "assay/cli/help_layout.h"
#include "assay/report/format.h"

namespace assay::cli {
namespace {

constexpr std::size_t kShownDigits = 16;

template <class Map>
Status add_pairs(const char* flag, const std::vector<std::string>& texts, Map& pairs) {
  for (const auto& text : texts) {
    ASSAY_ASSIGN_OR_RETURN(auto pair, fai_pep::pair_from_flag(flag, text));
    pairs.insert_or_assign(std::move(pair.first), std::move(pair.second));
  }
  return {};
}

}  // namespace

void ImportFlags::declare(CLI::App& app) {
  app.add_option("--program", programs, "Program that stands for {NAME}, such as program=./bench")
      ->type_name("NAME=PATH")
      ->group(kImports);
  app.add_option("--file", files, "File that stands for {files.KEY}; its md5 is not checked")
      ->type_name("KEY=PATH")
      ->group(kImports);
  app.add_option("--root", root, "Folder that locations //… start from")
      ->type_name("FOLDER")
      ->group(kImports);
  app.add_option("--model-cache", model_cache, "FAI-PEP's folder of downloaded files")
      ->type_name("FOLDER")
      ->group(kImports);
  app.add_option("--mirror", mirrors, "Folder with the files below a URL; nothing is downloaded")
      ->type_name("URL=FOLDER")
      ->group(kImports);
  app.add_option("--set", values, "Value of a placeholder")
      ->type_name("NAME=VALUE")
      ->group(kImports);
  app.add_flag("--allow-commands", allows_commands,
               "Run the commands that prepare and evaluate a test on this machine")
      ->group(kImports);
  app.add_option("--as", as, "Run the graphs of TFLite files on this engine, not on a program")
      ->check(CLI::IsMember({"litert"}))
      ->group(kImports);
}

Result<fai_pep::StandIns> ImportFlags::stand_ins() const {
  fai_pep::StandIns result{.programs = {},
                           .files = {},
                           .root = root,
                           .model_cache = model_cache,
                           .allows_commands = allows_commands,
                           .processors = static_cast<int>(std::thread::hardware_concurrency())};
  ASSAY_RETURN_IF_ERROR(add_pairs("--program", programs, result.programs));
  ASSAY_RETURN_IF_ERROR(add_pairs("--file", files, result.files));
  ASSAY_RETURN_IF_ERROR(add_pairs("--set", values, result.values));
  for (const auto* name : {"cooldown", "timeout"}) {
    const auto found = result.values.find(name);
    if (found != result.values.end() && !fai_pep::number_from_text(found->second)) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("--set {}={}: a number of seconds", name, found->second));
    }
  }
  for (const auto& text : mirrors) {
    ASSAY_ASSIGN_OR_RETURN(auto pair, fai_pep::pair_from_flag("--mirror", text));
    result.mirrors.push_back({.prefix = std::move(pair.first), .folder = std::move(pair.second)});
  }
  return result;
}

Result<Json> spec_from_specification(const std::filesystem::path& file, const ImportFlags& flags,
                                     const std::filesystem::path& folder) {
  ASSAY_ASSIGN_OR_RETURN(const auto stand_ins, flags.stand_ins());
  if (flags.as.empty()) {
    return fai_pep::import_specification(file, stand_ins, folder);
  }
  ASSAY_ASSIGN_OR_RETURN(auto imported, fai_pep::import_for_litert(file, stand_ins));
  for (const auto& test : imported.left_out) {
    write_stderr(fmt::format("left out: {}\n", test));
  }
  return std::move(imported.spec);
}

std::filesystem::path folder_of_imports(const std::filesystem::path& file,
                                        const ImportFlags& flags) {
  const Json what = {std::filesystem::absolute(file).lexically_normal().string(),
                     std::filesystem::current_path().string(),
                     flags.programs,
                     flags.files,
                     flags.root,
                     flags.model_cache,
                     flags.mirrors,
                     flags.values,
                     flags.allows_commands};
  return assay_home() / "imports" / digest_of_json(what).substr(0, kShownDigits);
}

Status print_tests(const std::filesystem::path& file, const ImportFlags& flags) {
  ASSAY_ASSIGN_OR_RETURN(const auto stand_ins, flags.stand_ins());
  ASSAY_ASSIGN_OR_RETURN(const auto tests, fai_pep::list_tests(file, stand_ins));
  for (const auto& test : tests) {
    print_out("{}  {}\n", test.identifier, test.metric);
    for (const auto& command : test.commands) {
      print_out("    {}\n", shell_command(command));
    }
    if (!test.unavailable.empty()) {
      print_out("    unavailable: {}\n", test.unavailable);
    }
    for (const auto& missing : test.missing) {
      print_out("    missing: {}\n", missing);
    }
  }
  print_out("{}\n", report::counted(tests.size(), "test"));
  return {};
}

bool is_specification_file(const std::filesystem::path& file) {
  const auto document = fai_pep::read_document(file);
  return document && fai_pep::is_specification(*document);
}

}  // namespace assay::cli
