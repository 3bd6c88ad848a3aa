#pragma once

#include <initializer_list>
#include <string_view>

#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay {

/// Whether `document` is an object with no other keys than these. Errors: kInvalidArgument with
/// did-you-mean; `what` names the object: "policy".
Status check_keys(const Json& document, std::string_view what,
                  std::initializer_list<std::string_view> keys);

}  // namespace assay
