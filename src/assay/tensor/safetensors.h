#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/tensor/tensor.h"

namespace assay {

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

/// Reads a safetensors document (https://huggingface.co/docs/safetensors: 8 bytes of header length,
/// a JSON header, then the data), in order of name. Never reads outside `bytes`.
/// Errors: kCorrupt for anything malformed, kUnsupported for a dtype that Dtype lacks.
Result<std::vector<NamedTensor>> tensors_from_safetensors(std::span<const std::byte> bytes);

/// Reads a safetensors file. Errors: also kNotFound, kUnavailable; messages begin with the path.
Result<std::vector<NamedTensor>> read_safetensors(const std::filesystem::path& path);

/// Reads the tensors of a file whose names are wanted, and of the others no byte; also in order of
/// name. Errors: those of read_safetensors.
Result<std::vector<NamedTensor>> read_safetensors_where(
    const std::filesystem::path& path, const std::function<bool(std::string_view)>& is_wanted);

/// As many tensors as one document holds: its header would be too long to be read.
inline constexpr std::size_t kMostTensorsOfDocument = 1'000'000;

std::vector<std::byte> safetensors_from_tensors(std::span<const NamedTensor> tensors);

/// One sample of an input set: the tensors named "<sample>.0", "<sample>.1", … in order of index.
/// Errors: kNotFound when the sample is absent, telling how many there are.
Result<std::vector<Tensor>> sample_from_tensors(std::span<const NamedTensor> tensors, int sample);

/// The first `count` samples, or all, in order. Errors: kNotFound when one is absent.
Result<std::vector<std::vector<Tensor>>> samples_from_tensors(
    std::span<const NamedTensor> tensors, std::optional<int> count = std::nullopt);

/// The first `count` samples of a file, of which nothing else is read; each tensor is in memory
/// once. Errors: those of read_safetensors and of samples_from_tensors.
Result<std::vector<std::vector<Tensor>>> read_samples(const std::filesystem::path& path, int count);

/// Number of samples of a file, by its header. Errors: those of read_safetensors.
Result<int> count_samples_of_file(const std::filesystem::path& path);

/// Number of samples: one more than the largest "<sample>." prefix; 0 if none.
int count_samples(std::span<const NamedTensor> tensors);

}  // namespace assay
