// Whatever the flags of a command say, they are refused or make a document that the reader of specs
// accepts or refuses.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "assay/base/fuzz_input.h"
#include "assay/cli/quick_spec.h"
#include "assay/spec/spec.h"

namespace {

/// A line of an input: a letter that names the flag, and its value.
void set_flag(assay::cli::QuickSpec& flags, char letter, const std::string& value) {
  constexpr std::size_t kMostDimensions = 3;  // Their sizes are combined.
  switch (letter) {
    case 'm':
      flags.model = value;
      break;
    case 'o':
      flags.options.push_back(value);
      break;
    case 's':
      flags.scenario.push_back(value);
      break;
    case 't':
      flags.threads.push_back(value);
      break;
    case 'i':
      flags.input_shapes.push_back(value);
      break;
    case 'a':
      flags.args = value;
      break;
    case 'r':
      flags.require.push_back(value);
      break;
    case 'g':
      flags.against.push_back(value);
      break;
    case 'd':
      if (flags.dimensions.size() < kMostDimensions) {
        flags.dimensions.push_back(value.substr(0, 40));
      }
      break;
    case 'w':
      flags.warmup = value;
      break;
    case 'n':
      flags.iterations = value;
      break;
    case 'b':
      flags.time_budget = value;
      break;
    case 'v':
      flags.interval = value;
      break;
    default:
      break;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  assay::cli::QuickSpec flags;
  flags.model = "/nonexistent/net.pte";
  while (!text.empty()) {
    const auto [line, rest] = assay::split_at_first(text, '\n');
    if (!line.empty()) {
      set_flag(flags, line.front(), std::string(line.substr(1)));
    }
    text = rest;
  }
  if (const auto document = flags.document({"timing", "evaluate"})) {
    static_cast<void>(
        assay::spec_from_json(*document, {.origin = "flags", .folder = "/nonexistent"}));
  }
  return 0;
}
