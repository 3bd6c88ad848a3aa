#include "assay/record/boxed_command.h"

#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/record/sandbox.h"

namespace assay {

std::vector<std::string> boxed_command(const SandboxRequest& box, const std::string& folder,
                                       std::vector<std::string> argv) {
  if (box.mode == SandboxMode::kOff) {
    return argv;
  }
  std::vector<std::string> boxed{(executable_folder() / "assay-agent").string(),
                                 "--box",
                                 Json(box).dump(),
                                 "--folder",
                                 folder,
                                 "--"};
  boxed.insert(boxed.end(), std::make_move_iterator(argv.begin()),
               std::make_move_iterator(argv.end()));
  return boxed;
}

}  // namespace assay
