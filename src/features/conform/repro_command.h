#pragma once

#include <string>

#include "assay/record/case.h"

namespace assay {

/// The command that makes and judges a case alone, ready for a POSIX shell.
std::string repro_command(const Case& cell, const std::string& against = "");

}  // namespace assay
