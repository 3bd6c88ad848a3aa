#pragma once

#include <string>
#include <string_view>

#include "assay/base/result.h"

namespace assay::postgres {

/// True for the SQLSTATE of a transaction that the server ended and that can be tried again.
bool asks_for_retry(std::string_view state);

/// True for the SQLSTATE of a statement that waited too long for the lock of another one.
bool is_lock_timeout(std::string_view state);

/// True if a transaction whose end was not heard took place. `state`: what pg_xact_status() says of
/// it. Errors: kUnavailable where the server cannot tell (yet), as making it again may make it
/// twice.
Result<bool> was_committed_from_state(std::string_view store, std::string_view state);

/// Why the server refused, and how to mend it. `state`: SQLSTATE, empty if the connection was
/// lost or never made.
Error error_from_server(std::string_view store, std::string_view state, std::string_view message);

/// A message of the client library in one line.
std::string line_from_message(std::string_view message);

}  // namespace assay::postgres
