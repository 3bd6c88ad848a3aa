// Whatever the bytes are, reading a repository file never crashes, and an accepted one has an
// environment.
#include "features/repository/repository_spec.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "assay/base/result.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto spec = assay::repository_spec_from_text(text, "fuzz", "/nonexistent");
  if (spec) {
    ASSAY_CHECK(assay::get_environment(*spec, "").has_value());
    static_cast<void>(assay::label_of_build(*spec, spec->environments.front(), "0123"));
    static_cast<void>(spec->paths.matches("src/a.cpp"));
  }
  return 0;
}
