// Whatever the bytes of a database's cell are, unpacking fails or gives as many samples as there
// must be, and what is packed unpacks to the same bits.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "assay/base/fuzz_input.h"
#include "assay/base/result.h"
#include "assay/store/sql/sample_codec.h"

namespace {

using namespace assay::sql;

/// First byte: how many samples there must be.
void unpack_samples(std::string_view text) {
  if (text.empty()) {
    return;
  }
  const std::size_t count = static_cast<unsigned char>(text.front());
  for (const std::string_view codec : {"i64", "i64-shuffle-zstd", "none"}) {
    const auto samples = samples_from_packed(codec, text.substr(1), count);
    ASSAY_CHECK(!samples || samples->size() == count);
  }
}

void unpack_bytes(std::string_view text) {
  if (const auto bytes = bytes_from_packed("zstd", text)) {
    const auto packed = packed_from_bytes(*bytes);
    const auto again = bytes_from_packed(packed.codec, packed.bytes);
    ASSAY_CHECK(again && *again == *bytes);
  }
}

void pack(std::string_view text) {
  const auto packed = packed_from_bytes(text);
  const auto bytes = bytes_from_packed(packed.codec, packed.bytes);
  ASSAY_CHECK(bytes && *bytes == text);
  std::vector<std::int64_t> samples(text.size() / sizeof(std::int64_t));
  if (!samples.empty()) {
    std::memcpy(samples.data(), text.data(), samples.size() * sizeof(std::int64_t));
  }
  const auto block = packed_from_samples(samples);
  const auto again = samples_from_packed(block.codec, block.bytes, samples.size());
  ASSAY_CHECK(again && *again == samples);
}

constexpr assay::FuzzedParser kParsers[] = {
    {'s', unpack_samples}, {'z', unpack_bytes}, {'p', pack}};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return assay::run_fuzzed_parser(kParsers, data, size);
}
