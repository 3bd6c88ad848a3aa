#include "assay/record/boxed_command.h"

#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/record/sandbox.h"

namespace assay {
namespace {

/// Linux takes none of more than 128 KiB, and 2 MiB together where the stack may have 8.
constexpr std::size_t kLongestArgument = 100 << 10;

}  // namespace

std::vector<std::string> boxed_command(const SandboxRequest& box, const std::string& folder,
                                       std::vector<std::string> argv) {
  if (box.mode == SandboxMode::kOff) {
    return argv;
  }
  std::vector<std::string> boxed{(executable_folder() / "assay-agent").string()};
  const auto request = Json(box).dump();
  for (std::size_t at = 0; at < request.size(); at += kLongestArgument) {
    boxed.insert(boxed.end(), {"--box", request.substr(at, kLongestArgument)});
  }
  boxed.insert(boxed.end(), {"--folder", folder, "--"});
  boxed.insert(boxed.end(), std::make_move_iterator(argv.begin()),
               std::make_move_iterator(argv.end()));
  return boxed;
}

}  // namespace assay
