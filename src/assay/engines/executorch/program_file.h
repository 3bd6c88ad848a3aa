#pragma once

#include <filesystem>

#include "assay/base/result.h"

namespace assay::et {

/// Looks at the first bytes of a .pte and at the file's size, before the runtime does: the runtime
/// tells a truncated file from a wrong argument only in its log.
///
/// Source: the "ET" file identifier and the extended header "eh00" of ExecuTorch's program format
/// (schema/extended_header.h): length u32 | program size u64 | segment base u64 | segment size u64.
/// Errors: kNotFound; kUnavailable; kCorrupt when it is no program or shorter than it says.
Status check_program_file(const std::filesystem::path& path);

}  // namespace assay::et
