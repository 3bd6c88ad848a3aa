// Whatever the bytes are, reading a spec never crashes, and what is accepted expands or is refused.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "assay/base/json.h"
#include "assay/spec/bound.h"
#include "assay/spec/expand.h"
#include "assay/spec/spec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const std::string_view unit : {"", "ns", "bytes"}) {
    static_cast<void>(assay::bound_from_text(text, unit));
  }
  const auto document = assay::parse_json(text, "fuzz");
  if (!document) {
    return 0;
  }
  const auto spec = assay::spec_from_json(*document, {.origin = "fuzz", .folder = "/nonexistent"});
  if (spec) {
    const assay::ExpansionContext context{
        .devices = {{.device_class = "fuzz", .installed = {{.name = "executorch", .label = "1"}}}}};
    static_cast<void>(assay::expand(*spec, context));
  }
  return 0;
}
