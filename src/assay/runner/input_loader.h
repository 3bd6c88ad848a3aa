#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "assay/base/result.h"
#include "assay/tensor/tensor.h"
#include "assay/wire/messages.h"

namespace assay {

/// One inference's inputs, in order of the program's signature.
using Sample = std::vector<Tensor>;

/// The samples that a request names: from a safetensors file, from the frame's blob, or generated
/// from the signature. Input i of generated sample s is random_tensor(spec, seed_of_input(seed, s,
/// i)).
/// Errors: kInvalidArgument when not exactly one source is named; kNotFound for a sample that the
/// file lacks; what reading the file returns.
Result<std::vector<Sample>> load_samples(const wire::InputSource& source,
                                         std::span<const std::byte> blob,
                                         std::span<const TensorSpec> specs);

/// Different for every sample and input of one seed.
std::uint64_t seed_of_input(std::uint64_t seed, std::size_t sample, std::size_t input);

/// Views of a sample, as Session::bind takes them.
std::vector<TensorView> views_of(const Sample& sample);

}  // namespace assay
