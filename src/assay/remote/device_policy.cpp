#include "assay/remote/device_policy.h"

#include <cstdint>
#include <expected>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/units.h"
#include "assay/record/frequency_target.h"
#include "assay/remote/strict_keys.h"

namespace assay {
namespace {

Error wrong_value(const std::string& key, const char* form) {
  return {.code = ErrorCode::kInvalidArgument,
          .message = fmt::format("policy: {} must be {}", key, form)};
}

Status read_flag(const Json& document, const char* key, bool& flag) {
  if (const auto found = document.find(key); found != document.end()) {
    if (!found->is_boolean()) {
      return std::unexpected(wrong_value(key, "true or false"));
    }
    flag = found->get<bool>();
  }
  return {};
}

Status read_duration(const Json& document, const char* key, std::int64_t& duration_ns) {
  if (const auto found = document.find(key); found != document.end()) {
    const auto read = found->is_string() ? duration_ns_from_text(found->get<std::string>())
                                         : fail(ErrorCode::kInvalidArgument, "");
    if (!read) {
      return std::unexpected(wrong_value(key, "a duration such as \"30s\" or \"6h\""));
    }
    duration_ns = *read;
  }
  return {};
}

Result<RebootPolicy> reboot_from_json(const Json& document) {
  ASSAY_RETURN_IF_ERROR(
      check_keys(document, "policy.reboot", {"before_run", "at_most_every", "wait"}));
  RebootPolicy reboot;
  ASSAY_RETURN_IF_ERROR(read_flag(document, "before_run", reboot.before_run));
  ASSAY_RETURN_IF_ERROR(read_duration(document, "at_most_every", reboot.at_most_every_ns));
  ASSAY_RETURN_IF_ERROR(read_duration(document, "wait", reboot.wait_ns));
  return reboot;
}

Result<Wipe> wipe_from_json(const Json& value) {
  const auto wipe = value.is_string() ? find_enum<Wipe>(value.get<std::string>()) : std::nullopt;
  if (!wipe) {
    return std::unexpected(wrong_value("wipe", "\"never\", \"before_run\" or \"after_run\""));
  }
  return *wipe;
}

Result<std::string> frequency_from_json(const Json& value) {
  if (!value.is_string()) {
    return std::unexpected(wrong_value("frequency", "text such as \"max\" or \"1.8GHz\""));
  }
  auto text = value.get<std::string>();
  const auto target = frequency_target_from_text(text);
  return target ? Result<std::string>(std::move(text))
                : fail(ErrorCode::kInvalidArgument, "policy: " + target.error().message);
}

}  // namespace

Result<DevicePolicy> policy_from_json(const Json& document) {
  ASSAY_RETURN_IF_ERROR(
      check_keys(document, "policy",
                 {"frequency", "keep_awake", "reboot", "wipe", "cool_down", "return_wait"}));
  DevicePolicy policy;
  ASSAY_ASSIGN_OR_RETURN(policy.frequency,
                         frequency_from_json(document.value("frequency", Json("leave"))));
  ASSAY_RETURN_IF_ERROR(read_flag(document, "keep_awake", policy.keeps_awake));
  ASSAY_ASSIGN_OR_RETURN(policy.reboot, reboot_from_json(document.value("reboot", Json::object())));
  ASSAY_ASSIGN_OR_RETURN(policy.wipe, wipe_from_json(document.value("wipe", Json("never"))));
  ASSAY_RETURN_IF_ERROR(read_duration(document, "cool_down", policy.cool_down_ns));
  ASSAY_RETURN_IF_ERROR(read_duration(document, "return_wait", policy.return_wait_ns));
  return policy;
}

}  // namespace assay
