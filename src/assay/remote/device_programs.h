#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "assay/base/result.h"

namespace assay {

/// The triple of a machine name of uname: "aarch64" -> "aarch64-linux-gnu".
std::string triple_of_machine(std::string_view machine);

/// Folder of what was built for devices of a triple: programs in "bin", a bundle of each engine in
/// "bundle".
std::filesystem::path device_folder(const std::string& triple);

/// A program of this installation for a device of that triple: next to the running executable where
/// the device has our own processor, else in device_folder(). Errors:
/// kUnavailable, with how to build it.
Result<std::filesystem::path> find_device_program(const std::string& triple,
                                                  const std::string& name);

}  // namespace assay
