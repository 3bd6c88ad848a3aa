#include "assay/engines/executorch/loaded_program.h"

#include <cstddef>
#include <cstdint>
#include <executorch/extension/data_loader/file_data_loader.h>
#include <executorch/extension/data_loader/mmap_data_loader.h>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/engines/executorch/program_file.h"
#include "assay/engines/executorch/runtime_error.h"

namespace assay::et {
namespace {

using ::executorch::extension::FileDataLoader;
using ::executorch::extension::FlatTensorDataMap;
using ::executorch::extension::MmapDataLoader;
using ::executorch::extension::merged_data_map::MergedDataMap;
using ::executorch::runtime::NamedDataMap;
using ::executorch::runtime::Program;

template <class Loader>
Result<std::unique_ptr<CountingLoader>> wrap_loader(::executorch::runtime::Result<Loader> loader,
                                                    const std::filesystem::path& path) {
  if (!loader.ok()) {
    return fail_with_runtime_error(fmt::format("cannot open {}", path.string()), loader.error());
  }
  return std::make_unique<CountingLoader>(std::make_unique<Loader>(std::move(loader.get())));
}

Result<std::unique_ptr<CountingLoader>> open_loader(const std::filesystem::path& path,
                                                    LoadMode mode) {
  if (mode == LoadMode::kMmap) {
    return wrap_loader(MmapDataLoader::from(path.c_str(), MmapDataLoader::MlockConfig::NoMlock),
                       path);
  }
  return wrap_loader(FileDataLoader::from(path.c_str()), path);
}

}  // namespace

Result<std::unique_ptr<LoadedProgram>> LoadedProgram::open(const Request& request) {
  std::unique_ptr<LoadedProgram> loaded(new LoadedProgram());
  loaded->mode_ = request.mode;
  ASSAY_RETURN_IF_ERROR(loaded->open_program(request));
  for (const auto& path : request.data) {
    ASSAY_RETURN_IF_ERROR(loaded->open_data(path, request.mode));
  }
  ASSAY_RETURN_IF_ERROR(loaded->merge_data());
  return loaded;
}

Status LoadedProgram::open_program(const Request& request) {
  ASSAY_RETURN_IF_ERROR(check_program_file(request.entry));
  ASSAY_ASSIGN_OR_RETURN(loader_, open_loader(request.entry, request.mode));
  auto program =
      Program::load(loader_.get(), request.is_verified ? Program::Verification::InternalConsistency
                                                       : Program::Verification::Minimal);
  if (!program.ok()) {
    return fail_with_runtime_error(fmt::format("{} does not load", request.entry.string()),
                                   program.error());
  }
  program_ = std::make_unique<Program>(std::move(program.get()));
  return {};
}

Status LoadedProgram::open_data(const std::filesystem::path& path, LoadMode mode) {
  if (!std::filesystem::exists(path)) {
    return fail(ErrorCode::kNotFound, fmt::format("no data file {}", path.string()));
  }
  ASSAY_ASSIGN_OR_RETURN(auto loader, open_loader(path, mode));
  auto map = FlatTensorDataMap::load(loader.get());
  if (!map.ok()) {
    auto failure = fail_with_runtime_error(
        fmt::format("{} is no data file of ExecuTorch (.ptd)", path.string()), map.error());
    failure.error().code = ErrorCode::kCorrupt;
    return failure;
  }
  data_loaders_.push_back(std::move(loader));
  data_maps_.push_back(std::make_unique<FlatTensorDataMap>(std::move(map.get())));
  return {};
}

Status LoadedProgram::merge_data() {
  if (data_maps_.size() < 2) {
    return {};
  }
  std::vector<const NamedDataMap*> maps;
  maps.reserve(data_maps_.size());
  for (const auto& map : data_maps_) {
    maps.push_back(map.get());
  }
  auto merged = MergedDataMap::load({maps.data(), maps.size()});
  if (!merged.ok()) {
    return fail_with_runtime_error("the data files cannot be used together", merged.error());
  }
  merged_ = std::make_unique<MergedDataMap>(std::move(merged.get()));
  return {};
}

const NamedDataMap* LoadedProgram::data_map() const {
  if (merged_) {
    return merged_.get();
  }
  return data_maps_.empty() ? nullptr : data_maps_.front().get();
}

std::vector<std::string> LoadedProgram::method_names() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < program_->num_methods(); ++i) {
    if (const auto name = program_->get_method_name(i); name.ok()) {
      names.emplace_back(*name);
    }
  }
  return names;
}

std::int64_t LoadedProgram::heap_bytes() const {
  if (mode_ == LoadMode::kMmap) {
    return 0;
  }
  std::int64_t bytes = loader_->held_bytes();
  for (const auto& loader : data_loaders_) {
    bytes += loader->held_bytes();
  }
  return bytes;
}

}  // namespace assay::et
