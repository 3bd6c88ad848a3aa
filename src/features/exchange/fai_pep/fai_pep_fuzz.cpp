// Whatever a file of FAI-PEP holds, its tests are listed or it is refused.
#include "features/exchange/fai_pep/import.h"
#include "features/exchange/fai_pep/stand_ins.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "assay/base/fuzz_input.h"
#include "assay/base/result.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const assay::FuzzedFile file(std::string_view(reinterpret_cast<const char*>(data), size));
  const assay::fai_pep::StandIns stand_ins{
      .programs = {{"program", "/bin/true"}}, .files = {}, .root = "/models", .processors = 4};
  const auto tests = assay::fai_pep::list_tests(file.path(), stand_ins);
  if (!tests) {
    return 0;
  }
  for (const auto& test : *tests) {
    ASSAY_CHECK(!test.metric.empty() && (!test.commands.empty() || !test.unavailable.empty()));
    for (const auto& command : test.commands) {
      ASSAY_CHECK(!command.empty());
    }
  }
  return 0;
}
