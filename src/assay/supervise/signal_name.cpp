#include "assay/supervise/signal_name.h"

#include <cstring>
#include <fmt/format.h>
#include <string.h>
#include <string>

namespace assay {

std::string signal_name(int signal) {
  if (signal == 0) {
    return {};
  }
  const char* name = ::sigabbrev_np(signal);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

}  // namespace assay
