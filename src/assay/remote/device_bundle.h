#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "assay/base/file_digests.h"
#include "assay/base/result.h"

namespace assay {

/// One file of a bundle.
struct BundleFile {
  std::string path;              ///< In the bundle: "lib/libc.so.6".
  std::filesystem::path source;  ///< Here.
  std::string sha256;
  bool is_executable = false;
};

/// A runner with all that it loads, the loader of its C library included, so that it starts on any
/// device with a kernel for its processor: an old board, or a phone without an NDK build.
struct DeviceBundle {
  std::string triple;             ///< "aarch64-linux-gnu"
  std::vector<std::string> argv;  ///< Starts it. Words that name files of it are its paths.
  std::vector<BundleFile> files;
};

/// A bundle that was made by tools/make_device_bundle.py: a folder with bundle.json. `digests`:
/// what is known of its files from before. Errors: kNotFound; kCorrupt where a file has another
/// digest than noted, or the document is no bundle.
Result<DeviceBundle> read_bundle(const std::filesystem::path& folder, FileDigests& digests);

/// The bundle of a program of this machine, with the shared libraries that its loader names, and
/// those that the program opens while it runs: `loads`, by name with * and ?, which lie next to the
/// others. `digests` as in read_bundle(). Errors: kNotFound (a library, too); kUnsupported for a
/// program that is no ELF file, such as a runner in Python.
Result<DeviceBundle> bundle_of_program(const std::filesystem::path& program,
                                       std::span<const std::string> loads, FileDigests& digests);

}  // namespace assay
