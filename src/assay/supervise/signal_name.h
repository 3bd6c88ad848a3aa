#pragma once

#include <string>

namespace assay {

/// "SIGSEGV"; "signal 64" for those without a name; "" for 0.
std::string signal_name(int signal);

}  // namespace assay
