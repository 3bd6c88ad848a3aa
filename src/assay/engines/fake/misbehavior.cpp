#include "assay/engines/fake/misbehavior.h"

#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <vector>

#include <signal.h>
#include <unistd.h>

#include "assay/base/enum_names.h"
#include "assay/base/error_code_names.h"  // IWYU pragma: keep
#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay::fake {
namespace {

constexpr std::string_view kPrinted = "a library prints to stdout\n";

Status fail_as_ordered(const Misbehavior& misbehavior) {
  ASSAY_ASSIGN_OR_RETURN(const auto code, enum_from_name<ErrorCode>(misbehavior.code));
  auto failure = fail(code, misbehavior.message);
  failure.error().engine_code = misbehavior.engine_code;
  return failure;
}

[[noreturn]] void die_of_signal(int signal) {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
  std::abort();
}

[[noreturn]] void hang() {
  for (;;) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}

/// Touches 64 MB every few milliseconds, so that a limit has time to act.
[[noreturn]] void eat_memory(std::int64_t most_bytes) {
  constexpr std::size_t kBite = std::size_t{64} << 20;
  std::vector<std::unique_ptr<std::vector<char>>> eaten;
  for (std::int64_t bytes = 0; bytes < most_bytes; bytes += static_cast<std::int64_t>(kBite)) {
    eaten.push_back(std::make_unique<std::vector<char>>(kBite, 'x'));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  throw std::bad_alloc();
}

// NOLINTNEXTLINE(misc-no-recursion)
int use_stack(int depth) {
  std::array<volatile char, 4096> frame{};
  frame[0] = static_cast<char>(depth);
  return frame[0] == 0 && depth < 0 ? 0 : use_stack(depth + 1) + frame[0];
}

void write_to(int fd, std::string_view text) {
  [[maybe_unused]] const auto written = ::write(fd, text.data(), text.size());
}

void write_garbage_to_wire() {
  const char* fd = std::getenv("ASSAY_WIRE_FD");
  // Assay wrote this variable itself.
  // NOLINTNEXTLINE(bugprone-unchecked-string-to-number-conversion)
  write_to(fd != nullptr ? std::atoi(fd) : STDOUT_FILENO,
           "this is not a frame, and it is longer than one header of thirty-two bytes\n");
}

}  // namespace

Status misbehave(const Misbehavior& misbehavior) {
  switch (misbehavior.deed) {
    case Deed::kError:
      return fail_as_ordered(misbehavior);
    case Deed::kThrow:
      throw std::runtime_error("exception on order");
    case Deed::kSegfault:
      die_of_signal(SIGSEGV);
    case Deed::kAbort:
      std::abort();
    case Deed::kKill:
      die_of_signal(SIGKILL);
    case Deed::kExit0:
      ::_exit(0);
    case Deed::kExit3:
      ::_exit(3);
    case Deed::kHang:
      hang();
    case Deed::kEatMemory:
      eat_memory(misbehavior.most_bytes);
    case Deed::kStackOverflow:
      use_stack(0);
      return {};
    case Deed::kPrintStdout:
      write_to(STDOUT_FILENO, kPrinted);
      return {};
    case Deed::kGarbageOnWire:
      write_garbage_to_wire();
      return {};
    case Deed::kKillAgent:
      ::kill(::getppid(), SIGKILL);
      hang();  // Until the kernel ends it with its parent.
  }
  return {};
}

Result<Misbehavior> misbehavior_from_json(const Json& json) {
  Misbehavior result;
  ASSAY_ASSIGN_OR_RETURN(result.at, enum_from_name<Moment>(json.value("at", "never")));
  ASSAY_ASSIGN_OR_RETURN(result.deed, enum_from_name<Deed>(json.value("do", "error")));
  result.after = json.value("after", 0);
  result.code = json.value("code", result.code);
  result.message = json.value("message", result.message);
  result.engine_code = json.value("engine_code", result.engine_code);
  result.most_bytes = json.value("most_bytes", result.most_bytes);
  return result;
}

}  // namespace assay::fake
