#include "host/python_engine.h"

#include "host/python_call.h"
#include "host/python_session.h"

#include <filesystem>
#include <memory>
#include <nanobind/nanobind.h>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/engine/engine.h"
#include "assay/engine/session.h"
#include "assay/record/launch.h"

namespace assay::host {
namespace {

std::vector<std::string> texts_of(const std::vector<std::filesystem::path>& paths) {
  return {paths.begin(), paths.end()};
}

Json json_of(const LoadRequest& request) {
  return {{"entry", request.entry.string()},
          {"data", texts_of(request.data)},
          {"method", request.method},
          {"options", request.options},
          {"libraries", texts_of(request.libraries)}};
}

}  // namespace

Result<EngineDescription> PythonEngine::describe() {
  return with_python(
      [this] { return json_from(adapter_.attr("describe")()).get<EngineDescription>(); });
}

Result<std::unique_ptr<Session>> PythonEngine::load(const LoadRequest& request) {
  return with_python([&]() -> std::unique_ptr<Session> {
    const nb::object loaded = adapter_.attr("load")(object_from(json_of(request)));
    auto report = json_from(loaded[1]).get<LoadReport>();
    return std::make_unique<PythonSession>(nb::object(loaded[0]), std::move(report));
  });
}

}  // namespace assay::host
