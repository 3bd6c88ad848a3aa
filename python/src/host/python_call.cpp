#include "host/python_call.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>  // IWYU pragma: keep
#include <nlohmann/json.hpp>
#include <string>

#include "assay/base/enum_names.h"
#include "assay/base/error_code_names.h"
#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay::host {
namespace {

std::string text_of(nb::handle object) { return nb::cast<std::string>(nb::str(object)); }

}  // namespace

Error error_from(const nb::python_error& error) {
  const nb::handle value = error.value();
  if (nb::hasattr(value, "code") && nb::hasattr(value, "message")) {
    if (const auto code = find_enum<ErrorCode>(text_of(value.attr("code")))) {
      return {.code = *code, .message = text_of(value.attr("message"))};
    }
  }
  const auto name = nb::cast<std::string>(nb::handle(error.type()).attr("__name__"));
  const bool is_memory = error.matches(PyExc_MemoryError);
  return {.code = is_memory ? ErrorCode::kExhausted : ErrorCode::kEngine,
          .message = is_memory ? "out of memory" : name + ": " + text_of(value)};
}

Json json_from(nb::handle object) {
  const auto text = nb::module_::import_("json").attr("dumps")(object);
  auto json =
      parse_json(nb::cast<std::string>(text), "an object of Python", JsonComments::kRefused);
  if (!json) {
    throw nb::value_error(json.error().message.c_str());
  }
  return *std::move(json);
}

nb::object object_from(const Json& value) {
  return nb::module_::import_("json").attr("loads")(value.dump());
}

}  // namespace assay::host
