#include <memory>
#include <string>
#include <vector>

#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/cli/common_flags.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/verb.h"

namespace assay::cli {
namespace {

struct MergeOptions {
  std::vector<std::string> others;
  StoreFlags store;
};

Result<ExitCode> execute_merge(const MergeOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const auto store, options.store.open());
  for (const auto& other : options.others) {
    ASSAY_ASSIGN_OR_RETURN(const auto rows, store->merge_from(other));
    print_out("{}: {} rows copied\n", other, rows);
  }
  return ExitCode::kOk;
}

}  // namespace

Execute declare_merge(CLI::App& app) {
  auto options = std::make_shared<MergeOptions>();
  app.add_option("stores", options->others, "Stores to copy rows from; they are not changed")
      ->required();
  options->store.declare(app);
  return [options] { return execute_merge(*options); };
}

}  // namespace assay::cli
