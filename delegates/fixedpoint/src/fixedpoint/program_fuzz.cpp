// Whatever the bytes are, opening them as a program fails with a reason, or it runs within its
// memory and gives the same bits on every instruction set.
#include "fixedpoint/program.h"
#include "fixedpoint/testing/blob_writer.h"
#include "fixedpoint/testing/kernel_check.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  (void)fixedpoint::read_program(bytes);
  // The checksum stops nearly every mutation at the door, so they are also tried with one that
  // fits.
  std::vector<std::byte> sealed(bytes.begin(), bytes.end());
  fixedpoint::testing::seal(sealed);
  const auto check = fixedpoint::testing::check_blob(sealed);
  if (!check.disagreement.empty()) {
    std::fprintf(stderr, "%s\n", check.disagreement.c_str());
    std::abort();
  }
  return 0;
}
