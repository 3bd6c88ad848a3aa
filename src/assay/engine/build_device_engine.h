#pragma once

#include <filesystem>
#include <string>

#include "assay/base/result.h"

namespace assay {

struct DeviceEngineRequest {
  std::string name;                 ///< "executorch", "openvino", or a delegate in delegates/.
  std::string label;                ///< "mine"
  std::filesystem::path prefix;     ///< An installation for the device: its unpacked wheel.
  std::string triple;               ///< "aarch64-linux-gnu"
  std::filesystem::path sysroot;    ///< Libraries for the device; empty: those of make aarch64.
  std::filesystem::path toolchain;  ///< CMake file of another toolchain; empty: the triple's own.
  std::filesystem::path python;     ///< Interpreter that collects the bundle.
  std::filesystem::path cmake;      ///< 3.28 or newer.
  std::filesystem::path source;     ///< Assay's source tree.
  std::filesystem::path home;
};

/// Compiles the shipped runner for a device against an installation of its engine, into
/// <home>/engines/<name>@<label>. Returns the folder of the bundle, for a delegate its library.
/// By a toolchain of the caller's, such as an NDK's, the bundle has no loader and no C library: the
/// device's own start it. Takes a minute or two. Errors: kUnsupported (no such runner, or a triple
/// without a toolchain); kUnavailable (no compiler, no libraries, or it does not build: how to get
/// them, or the log); kNotFound (no CMake package in the prefix).
Result<std::filesystem::path> build_device_engine(const DeviceEngineRequest& request);

}  // namespace assay
