#include <CLI/CLI.hpp>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "assay/base/fs.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/import_flags.h"
#include "assay/cli/verb.h"
#include "assay/report/format.h"

namespace assay::cli {
namespace {

struct ImportOptions {
  std::string file;
  std::string out;
  bool is_dry_run = false;
  ImportFlags flags;
};

Result<ExitCode> execute_import(const ImportOptions& options) {
  if (!is_specification_file(options.file)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: no file of FAI-PEP: it has \"tests\" or \"benchmarks\", and no "
                            "\"schema\"",
                            options.file));
  }
  if (options.is_dry_run) {
    ASSAY_RETURN_IF_ERROR(print_tests(options.file, options.flags));
    return ExitCode::kOk;
  }
  if (options.out.empty()) {
    return fail(ErrorCode::kInvalidArgument, "name the spec to be written: --out spec.json");
  }
  const std::filesystem::path out = std::filesystem::absolute(options.out);
  const auto folder = out.parent_path() / out.stem();
  ASSAY_ASSIGN_OR_RETURN(const auto spec,
                         spec_from_specification(options.file, options.flags, folder));
  ASSAY_RETURN_IF_ERROR(write_file_atomically(out, text_from_json(spec, 2) + "\n"));
  print_out("{}: {}\n", options.out, report::counted(spec["models"].size(), "model"));
  return ExitCode::kOk;
}

}  // namespace

Execute declare_import(CLI::App& app) {
  auto options = std::make_shared<ImportOptions>();
  app.add_option("file", options->file, "File of FAI-PEP; it is not changed")->required();
  app.add_option("--out", options->out,
                 "Spec to be written; the command programs of the tests are in a folder beside it");
  app.add_flag("--dry-run", options->is_dry_run, "List the tests with their command lines");
  options->flags.declare(app);
  return [options] { return execute_import(*options); };
}

}  // namespace assay::cli
