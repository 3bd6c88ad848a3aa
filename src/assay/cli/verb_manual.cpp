#include <CLI/CLI.hpp>

#include "assay/base/fs.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/manual.h"
#include "assay/cli/verb.h"

namespace assay::cli {

Execute declare_manual(CLI::App& app) {
  return [&app]() -> Result<ExitCode> {
    write_stdout(manual_page(*app.get_parent(), assay_home().string()));
    return ExitCode::kOk;
  };
}

}  // namespace assay::cli
