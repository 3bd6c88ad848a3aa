#pragma once

#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <thread>

#include <sys/types.h>

#include "assay/base/fs.h"

namespace assay {

/// For tests: asks again every 5 ms, for two seconds, until the answer is yes.
template <class Question>
bool is_soon(const Question& question) {
  for (int i = 0; i < 400; ++i) {
    if (question()) {
      return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

/// True if a process soon has ended; a zombie that init has not reaped counts as ended.
inline bool is_soon_gone(pid_t pid) {
  return is_soon([pid] {
    const auto status = read_file(fmt::format("/proc/{}/status", pid));
    return !status || status->find("State:\tZ") != std::string::npos;
  });
}

/// The number that a script soon writes into a file as a line; -1 if it does not.
inline pid_t wait_for_pid(const std::filesystem::path& path) {
  pid_t pid = -1;
  is_soon([&] {
    const auto text = read_file(path);
    const bool is_whole = text && text->ends_with("\n");
    pid = is_whole ? static_cast<pid_t>(std::stoi(*text)) : -1;
    return is_whole;
  });
  return pid;
}

}  // namespace assay
