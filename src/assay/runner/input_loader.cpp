#include "assay/runner/input_loader.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/safetensors.h"
#include "assay/tensor/tensor.h"
#include "assay/wire/messages.h"

namespace assay {
namespace {

Status check_source(const wire::InputSource& source) {
  const int named =
      (source.file.empty() ? 0 : 1) + (source.in_blob ? 1 : 0) + (source.is_generated ? 1 : 0);
  if (named != 1) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("inputs come from exactly one of file, in_blob, is_generated; {} are "
                            "given",
                            named));
  }
  if (source.samples < 1) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} samples: take at least one", source.samples));
  }
  return {};
}

Status check_bound(std::span<const TensorSpec> specs) {
  for (const auto& spec : specs) {
    if (std::ranges::find(spec.shape, kUnboundDimension) != spec.shape.end()) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("input '{}' is {}: inputs of unbound size are not made up; bind it "
                              "by the spec's \"dimensions\" or \"inputs\" (--dimension batch=1, "
                              "--input-shape 1,3), or give a file of inputs",
                              spec.name, text_from_shape(spec.shape)));
    }
    ASSAY_RETURN_IF_ERROR(check_size(spec));
  }
  return {};
}

Result<std::vector<Sample>> generate_samples(const wire::InputSource& source,
                                             std::span<const TensorSpec> specs) {
  ASSAY_RETURN_IF_ERROR(check_bound(specs));
  std::vector<Sample> samples(static_cast<std::size_t>(source.samples));
  for (std::size_t s = 0; s < samples.size(); ++s) {
    for (std::size_t i = 0; i < specs.size(); ++i) {
      samples[s].push_back(random_tensor(specs[i], seed_of_input(source.seed, s, i)));
    }
  }
  return samples;
}

template <class Stored>
Tensor stored_as(std::span<const double> values, const Shape& shape, Dtype dtype,
                 const Quantization& quantization) {
  const auto factor = static_cast<float>(1.0 / quantization.scales.front());
  const auto zero_point = static_cast<double>(quantization.zero_points.front());
  Tensor tensor{.dtype = dtype, .shape = shape, .data = {}};
  tensor.data.resize(values.size() * sizeof(Stored));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double place = std::nearbyint(static_cast<float>(values[i]) * factor) + zero_point;
    const auto stored =
        static_cast<Stored>(std::clamp(std::isnan(place) ? zero_point : place,
                                       static_cast<double>(std::numeric_limits<Stored>::min()),
                                       static_cast<double>(std::numeric_limits<Stored>::max())));
    std::memcpy(tensor.data.data() + i * sizeof(Stored), &stored, sizeof(Stored));
  }
  return tensor;
}

/// As PyTorch quantizes: the product with 1 / scale in float32, ties to even, clamped. Nothing
/// where there is more than one scale, or a type that programs do not quantize to.
std::optional<Tensor> quantize(const Tensor& tensor, const TensorSpec& spec) {
  if (!spec.quantization || spec.quantization->scales.size() != 1 ||
      spec.quantization->zero_points.size() != 1) {
    return std::nullopt;
  }
  const auto values = doubles_from_tensor(tensor.view());
  switch (spec.dtype) {
    case Dtype::kInt8:
      return stored_as<std::int8_t>(values, tensor.shape, spec.dtype, *spec.quantization);
    case Dtype::kUInt8:
      return stored_as<std::uint8_t>(values, tensor.shape, spec.dtype, *spec.quantization);
    case Dtype::kInt16:
      return stored_as<std::int16_t>(values, tensor.shape, spec.dtype, *spec.quantization);
    default:
      return std::nullopt;
  }
}

/// Real values become the integers that stand for them in the program, and with `converts` another
/// floating type. Other mismatches are left for the engine to refuse, which names both sides.
void convert_floating(std::span<const TensorSpec> specs, bool converts, Sample& sample) {
  for (std::size_t i = 0; i < std::min(specs.size(), sample.size()); ++i) {
    auto& tensor = sample[i];
    if (!is_floating(tensor.dtype) || tensor.dtype == specs[i].dtype) {
      continue;
    }
    if (auto stored = quantize(tensor, specs[i])) {
      tensor = *std::move(stored);
    } else if (converts && is_floating(specs[i].dtype)) {
      tensor =
          tensor_from_doubles(doubles_from_tensor(tensor.view()), tensor.shape, specs[i].dtype);
    }
  }
}

Result<std::vector<Sample>> given_samples(const wire::InputSource& source,
                                          std::span<const std::byte> blob) {
  if (source.in_blob) {
    ASSAY_ASSIGN_OR_RETURN(const auto tensors, tensors_from_safetensors(blob));
    return samples_from_tensors(tensors, source.samples);
  }
  return read_samples(source.file, source.samples);
}

}  // namespace

std::uint64_t seed_of_input(std::uint64_t seed, std::size_t sample, std::size_t input) {
  constexpr std::uint64_t kSampleStep = 1'000'003;
  constexpr std::uint64_t kInputStep = 7'919;
  return seed + kSampleStep * sample + kInputStep * input;
}

Result<std::vector<Sample>> load_samples(const wire::InputSource& source,
                                         std::span<const std::byte> blob,
                                         std::span<const TensorSpec> specs) {
  ASSAY_RETURN_IF_ERROR(check_source(source));
  if (source.is_generated) {
    return generate_samples(source, specs);
  }
  if (specs.empty()) {
    return std::vector<Sample>(static_cast<std::size_t>(source.samples));
  }
  ASSAY_ASSIGN_OR_RETURN(auto samples, given_samples(source, blob));
  for (auto& sample : samples) {
    if (source.converts_floating || !source.in_blob) {
      convert_floating(specs, source.converts_floating, sample);
    }
  }
  return samples;
}

std::vector<TensorView> views_of(const Sample& sample) {
  std::vector<TensorView> views;
  views.reserve(sample.size());
  for (const auto& tensor : sample) {
    views.push_back(tensor.view());
  }
  return views;
}

}  // namespace assay
