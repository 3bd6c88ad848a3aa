#pragma once

#include <cstdint>
#include <executorch/extension/flat_tensor/flat_tensor_data_map.h>
#include <executorch/extension/named_data_map/merged_data_map.h>
#include <executorch/runtime/core/named_data_map.h>
#include <executorch/runtime/executor/program.h>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/engines/executorch/counting_loader.h"

namespace assay::et {

enum class LoadMode : std::uint8_t { kFile, kMmap };

/// A program and its data files, open. Methods that are loaded from it must die first.
class LoadedProgram {
 public:
  struct Request {
    std::filesystem::path entry;
    std::vector<std::filesystem::path> data;
    LoadMode mode = LoadMode::kFile;
    bool is_verified = false;  ///< The runtime checks the whole program's consistency.
  };

  /// Errors: kNotFound, kUnavailable, kCorrupt.
  static Result<std::unique_ptr<LoadedProgram>> open(const Request& request);

  [[nodiscard]] const ::executorch::runtime::Program& program() const { return *program_; }
  /// Tensors of the data files; null without any.
  [[nodiscard]] const ::executorch::runtime::NamedDataMap* data_map() const;
  [[nodiscard]] std::vector<std::string> method_names() const;
  /// Heap that the program's own data and constants hold; 0 when they are mapped.
  [[nodiscard]] std::int64_t heap_bytes() const;

 private:
  LoadedProgram() = default;
  Status open_program(const Request& request);
  Status open_data(const std::filesystem::path& path, LoadMode mode);
  Status merge_data();

  LoadMode mode_ = LoadMode::kFile;
  std::unique_ptr<CountingLoader> loader_;
  std::unique_ptr<::executorch::runtime::Program> program_;
  std::vector<std::unique_ptr<CountingLoader>> data_loaders_;
  std::vector<std::unique_ptr<::executorch::extension::FlatTensorDataMap>> data_maps_;
  std::unique_ptr<::executorch::extension::merged_data_map::MergedDataMap> merged_;
};

}  // namespace assay::et
