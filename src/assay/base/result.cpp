#include "assay/base/result.h"

#include <cstdlib>
#include <fmt/core.h>
#include <source_location>
#include <string_view>

#include "assay/base/output.h"

namespace assay {

void abort_on_failed_check(std::string_view what, std::source_location where) {
  write_stderr(fmt::format("{}:{}: check failed: {}\nThis is a bug of Assay.\n", where.file_name(),
                           where.line(), what));
  std::abort();
}

}  // namespace assay
