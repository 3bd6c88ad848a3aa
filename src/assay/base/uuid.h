#pragma once

#include <string>

namespace assay {

/// A new UUIDv7 (RFC 9562): sorts by time of making, unique without coordination.
std::string make_uuid7();

}  // namespace assay
