#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay {

/// Sees a member of a document: its name and its value.
using MemberVisitor = std::function<Status(const std::string& name, const Json& value)>;

/// As parse_json, for a document that is one large object: its members are shown one after the
/// other and not kept. Errors: also those of `visit`, which end the reading.
Status visit_members(std::string_view text, std::string_view origin, JsonComments comments,
                     const MemberVisitor& visit);

}  // namespace assay
