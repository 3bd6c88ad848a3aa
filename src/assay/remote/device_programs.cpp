#include "assay/remote/device_programs.h"

#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <system_error>

#include "assay/base/result.h"
#include "assay/device/environment.h"
#include "assay/device/local_transport.h"

namespace assay {

std::string triple_of_machine(std::string_view machine) {
  // Android calls a phone of 64-bit Arm "aarch64", too; its libc is another, and no program of ours
  // uses it.
  return fmt::format("{}-linux-gnu", machine == "arm64" ? "aarch64" : machine);
}

std::filesystem::path device_folder(const std::string& triple) { return program_folder() / triple; }

Result<std::filesystem::path> find_device_program(const std::string& triple,
                                                  const std::string& name) {
  const bool is_ours = triple == triple_of_machine(read_system_facts().machine);
  const auto folder = is_ours ? program_folder() : device_folder(triple) / "bin";
  auto program = folder / name;
  std::error_code error;
  if (!std::filesystem::is_regular_file(program, error)) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("no {} for {} at '{}'; build it: {}", name, triple, program.string(),
                            triple == "aarch64-linux-gnu" ? "make aarch64" : "make build"));
  }
  return program;
}

}  // namespace assay
