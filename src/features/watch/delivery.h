#pragma once

#include "features/repository/repository_spec.h"

#include <string>

#include "assay/base/result.h"

namespace assay::watch {

/// Identifies a receiver without showing an address or arguments that may be secret.
std::string key_of(const Notification& notification);

/// Hands `text`, a JSON document, to whom the notification names: on the stdin of a command, or as
/// the body of a POST that `curl` makes. The token is read from its file each time and reaches curl
/// by a pipe. Errors: kUnavailable, saying why it failed: a command that cannot be started or ends
/// with an error, a missing curl, no connection, an answer other than 2xx, a minute without an end.
Status deliver(const Notification& notification, const std::string& text);

}  // namespace assay::watch
