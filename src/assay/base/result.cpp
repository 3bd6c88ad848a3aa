#include "assay/base/result.h"

#include <cstdio>
#include <cstdlib>
#include <fmt/core.h>
#include <source_location>
#include <string_view>

namespace assay {

void abort_on_failed_check(std::string_view what, std::source_location where) {
  fmt::print(stderr, "{}:{}: check failed: {}\nThis is a bug of Assay.\n", where.file_name(),
             where.line(), what);
  std::abort();
}

}  // namespace assay
