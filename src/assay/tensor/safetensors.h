#pragma once

#include <filesystem>
#include <optional>
#include <string>
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

std::vector<std::byte> safetensors_from_tensors(std::span<const NamedTensor> tensors);

/// One sample of an input set: the tensors named "<sample>.0", "<sample>.1", … in order of index.
/// Errors: kNotFound when the sample is absent, telling how many there are.
Result<std::vector<Tensor>> sample_from_tensors(std::span<const NamedTensor> tensors, int sample);

/// The first `count` samples, or all, in order. Errors: kNotFound when one is absent.
Result<std::vector<std::vector<Tensor>>> samples_from_tensors(
    std::span<const NamedTensor> tensors, std::optional<int> count = std::nullopt);

/// Number of samples: one more than the largest "<sample>." prefix; 0 if none.
int count_samples(std::span<const NamedTensor> tensors);

}  // namespace assay
