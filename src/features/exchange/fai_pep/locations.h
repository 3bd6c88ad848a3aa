#pragma once

#include "features/exchange/fai_pep/stand_ins.h"
#include "features/exchange/fai_pep/test_entry.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay::fai_pep {

/// A file of a specification: its path here, and what its content must be.
struct LocatedFile {
  std::filesystem::path path;  ///< Absolute.
  std::string md5;             ///< As the specification has it; empty: any.
  bool is_stand_in = false;    ///< The user named it.
};

/// Path of a file of `entry`: the stand-in of its key, else in the model cache, else by its
/// location: "//…" below the root, a URL in a mirror, an absolute path, a path from the
/// specification's folder. Nothing is downloaded, and the file need not be there. A stand-in has no
/// md5: it is another file on purpose.
/// Errors: kNotFound for a location that nothing leads to, naming the flags.
Result<LocatedFile> locate(const std::string& key, const Json& file, const TestEntry& entry,
                           const StandIns& stand_ins);

}  // namespace assay::fai_pep
