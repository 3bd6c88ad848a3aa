#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/json.h"

namespace assay::fai_pep {

/// One test of a model file, as FAI-PEP runs it: after the sequence's "meta" is merged in, tests on
/// several shapes are split, and the older spellings are rewritten. Placeholders are as written.
struct TestEntry {
  std::filesystem::path file;  ///< The model file, absolute.
  int position = 0;            ///< In the file, after expansion.
  Json model;
  Json test;

  [[nodiscard]] std::string identifier() const { return test.value("identifier", std::string()); }
  [[nodiscard]] std::string metric() const { return test.value("metric", std::string()); }
  [[nodiscard]] std::string format() const { return model.value("format", std::string()); }
  [[nodiscard]] std::string name() const { return model.value("name", std::string()); }
};

}  // namespace assay::fai_pep
