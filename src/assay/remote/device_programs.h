#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "assay/base/result.h"

namespace assay {

/// What a machine name of uname calls its programs: "aarch64" -> "aarch64-linux-gnu".
std::string triple_of_machine(std::string_view machine);

/// A program of this installation for a device of that triple: beside the running executable where
/// the device has our own processor, else in the folder there that the triple names. Errors:
/// kUnavailable, with how to build it.
Result<std::filesystem::path> find_device_program(const std::string& triple,
                                                  const std::string& name);

}  // namespace assay
