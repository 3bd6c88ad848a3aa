#include "assay/report/vega_bundle.h"

#include <cstdlib>
#include <filesystem>
#include <string>

#include "assay/base/fs.h"
#include "assay/base/result.h"

namespace assay::report {
namespace {

std::filesystem::path data_folder(const std::filesystem::path& folder) {
  if (!folder.empty()) {
    return folder;
  }
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing here sets the environment.
  const char* const from_environment = std::getenv("ASSAY_DATA_DIR");
  return from_environment != nullptr && *from_environment != '\0'
             ? std::filesystem::path(from_environment)
             : executable_folder() / ".." / "share" / "assay";
}

}  // namespace

Result<std::string> read_vega_bundle(const std::filesystem::path& folder) {
  const auto path = data_folder(folder) / "vega.js";
  ASSAY_ASSIGN_OR_RETURN(auto script, read_file(path));
  if (script.find("</script") != std::string::npos || script.find("<!--") != std::string::npos) {
    return fail(ErrorCode::kCorrupt, path.string() +
                                         " holds text that would end its own script element; make "
                                         "it again with tools/make_vega_bundle.py");
  }
  return script;
}

}  // namespace assay::report
