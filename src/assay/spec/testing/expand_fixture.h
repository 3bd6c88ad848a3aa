#pragma once

#include <filesystem>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/case.h"
#include "assay/spec/expand.h"
#include "assay/spec/spec.h"

namespace assay {

/// Expands small specs for a machine with two builds of ExecuTorch and one of ONNX Runtime.
class ExpandSpec : public testing::Test {
 protected:
  ExpandSpec() : folder_(TemporaryFolder::make("assay-expand").value()) {
    local().device_class = "linux-x86_64:test:2cpu";
    local().installed = {{.name = "executorch", .label = "1.5.1"},
                         {.name = "executorch", .label = "mine"},
                         {.name = "onnxruntime", .label = "1.27.0"}};
  }

  ExpansionDevice& local() { return context_.devices.front(); }

  std::string add_file(const std::string& name, const std::string& content) {
    const auto path = folder_.path() / name;
    EXPECT_TRUE(write_file_atomically(path, content).has_value());
    return path.string();
  }

  [[nodiscard]] Spec spec_of(const Json& fields) const {
    Json document = {{"schema", "assay/spec/1"},
                     {"models", {"torchvision:mobilenet_v2"}},
                     {"recipes", {"executorch/xnnpack-fp32"}}};
    document.update(fields);
    auto spec = spec_from_json(document, {.origin = "x.json", .folder = folder_.path()});
    EXPECT_TRUE(spec.has_value()) << spec.error().message;
    return *std::move(spec);
  }

  [[nodiscard]] Expansion expansion_of(const Json& fields) const {
    auto expansion = expand(spec_of(fields), context_);
    EXPECT_TRUE(expansion.has_value()) << expansion.error().message;
    return *std::move(expansion);
  }

  [[nodiscard]] Error error_of(const Json& fields) const {
    const auto expansion = expand(spec_of(fields), context_);
    return expansion ? Error{.message = "it expanded"} : expansion.error();
  }

  TemporaryFolder folder_;
  ExpansionContext context_;
};

inline std::vector<std::string> labels_of(const Expansion& expansion) {
  std::vector<std::string> labels;
  for (const auto& cell : expansion.cases) {
    labels.push_back(label_of(cell) + " " + cell.engine_build);
  }
  return labels;
}

}  // namespace assay
