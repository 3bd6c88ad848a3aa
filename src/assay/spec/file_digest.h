#pragma once

#include <string>

#include "assay/base/result.h"

namespace assay {

/// Statements of a spec about a file; empty if it makes none.
struct PromisedFile {
  std::string sha256;
  std::string url;
};

/// SHA-256 of a file in hexadecimal. `where` begins messages. Errors: kCorrupt when it is not what
/// was promised; kNotFound, kUnavailable.
Result<std::string> digest_file(const std::string& file, const std::string& where,
                                const PromisedFile& promised = {});

/// Digests a file of samples, or of a folder of them by the names in it and their content.
Result<std::string> digest_samples(const std::string& file, const std::string& where);

}  // namespace assay
