#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/artifact/toolchain.h"
#include "assay/base/json.h"
#include "assay/record/sandbox.h"

namespace assay {

/// Files and folders that a request names by their whole path, wherever it does: also those in a
/// model's arguments.
std::vector<std::string> files_of_request(Json request);

/// The box of a toolchain's job: opens the toolchain's own files for reading, and every file that
/// the request names by its whole path, with its folder and the files that a program refers to. Its
/// "out_dir" is opened for writing. `asked`: by the user; absent, the job is in a box where it
/// reads a model or a program from elsewhere (.pt2, .pte, .onnx, …) and no Python file that the
/// user names takes part in it, which may need more than a box opens.
SandboxRequest box_of_job(const Json& request, const Toolchain& toolchain,
                          std::optional<SandboxMode> asked);

}  // namespace assay
