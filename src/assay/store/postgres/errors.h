#pragma once

#include <string>
#include <string_view>

#include "assay/base/result.h"

namespace assay::postgres {

/// SQLSTATE of a transaction that the server ended to be tried again.
bool asks_for_retry(std::string_view state);

/// Why the server refused, and how to mend it. `state`: SQLSTATE, empty where the connection was
/// lost or never made.
Error error_from_server(std::string_view store, std::string_view state, std::string_view message);

/// A message of the client library in one line.
std::string line_from_message(std::string_view message);

}  // namespace assay::postgres
