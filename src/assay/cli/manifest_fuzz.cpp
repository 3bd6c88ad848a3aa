// Whatever the bytes are, reading a manifest never crashes, and what is accepted has a summary.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "assay/artifact/manifest.h"
#include "assay/base/json.h"
#include "assay/summary/program.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto document = assay::parse_json(text, "fuzz");
  if (!document) {
    return 0;
  }
  if (const auto artifact = assay::artifact_from_manifest("key", "/cache", *document)) {
    static_cast<void>(assay::summarize_program(*artifact));
  }
  static_cast<void>(assay::reference_from_document("key", "/cache", *document));
  return 0;
}
