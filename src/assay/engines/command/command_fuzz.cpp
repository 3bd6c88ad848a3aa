// Whatever a command's document and its output are, times are found in it or it is refused.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "assay/base/fuzz_input.h"
#include "assay/base/result.h"
#include "assay/engines/command/command_program.h"

// The document, a zero byte, and what the command prints.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto [document, printed] =
      assay::split_at_first({reinterpret_cast<const char*>(data), size}, '\0');
  const assay::FuzzedFile file(document);
  const auto program = assay::command::read_command_program(file.path());
  if (!program) {
    return 0;
  }
  ASSAY_CHECK(!program->argv.empty() && program->timeout_ns > 0);
  const assay::command::Values values{
      .inputs = {"in0"}, .outputs = {"out0"}, .iterations = 2, .threads = 1};
  if (const auto argv = assay::command::argv_from(*program, values)) {
    ASSAY_CHECK(!argv->empty());
  }
  constexpr int kCount = 2;
  if (program->pattern_text.empty()) {
    return 0;
  }
  if (const auto times =
          assay::command::times_from(*program, std::string(printed.substr(0, 4096)), kCount)) {
    ASSAY_CHECK(times->ns.size() == kCount && times->clock_resolution_ns >= 0);
    for (const auto ns : times->ns) {
      ASSAY_CHECK(ns >= 0);
    }
  }
  return 0;
}
