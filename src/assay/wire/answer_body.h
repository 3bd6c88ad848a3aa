#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/wire/frame.h"
#include "assay/wire/messages.h"

namespace assay::wire {

/// Fails where `sent` holds a value that `read`, the JSON of what was made of it, does not: a
/// number that its field cannot hold, true for 1. Fields that only one of them has are no matter.
/// Errors: kCorrupt, naming the field and both values.
Status check_is_kept(const Json& sent, const Json& read, const std::string& path);

/// The body of an answer. Stricter than body_of(): a number that does not fit its field is an error
/// and is not cut. Errors: kCorrupt, naming the field.
template <class Body>
Result<Body> body_from_answer(const Frame& frame) {
  ASSAY_ASSIGN_OR_RETURN(auto body, body_of<Body>(frame));
  ASSAY_RETURN_IF_ERROR(check_is_kept(frame.body, Json(body), ""));
  return body;
}

}  // namespace assay::wire
