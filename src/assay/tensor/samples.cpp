#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/tensor/safetensors.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

struct SampleName {
  int sample = 0;
  int index = 0;
};

std::optional<int> number_from_text(std::string_view text) {
  int number = 0;
  const std::span<const char> digits(text);
  const auto* end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, number);
  constexpr int kMost = 1'000'000'000;
  const bool is_whole = error == std::errc{} && rest == end && number >= 0 && number <= kMost;
  return is_whole ? std::optional(number) : std::nullopt;
}

/// "3.1" is tensor 1 of sample 3; any other name belongs to no sample.
std::optional<SampleName> sample_name_from_text(std::string_view text) {
  const auto dot = text.find('.');
  if (dot == std::string_view::npos) {
    return std::nullopt;
  }
  const auto sample = number_from_text(text.substr(0, dot));
  const auto index = number_from_text(text.substr(dot + 1));
  return sample && index ? std::optional(SampleName{*sample, *index}) : std::nullopt;
}

template <class Named>
using TensorsByIndex = std::map<int, Named*>;

template <class Named>
std::map<int, TensorsByIndex<Named>> group_by_sample(std::span<Named> tensors) {
  std::map<int, TensorsByIndex<Named>> samples;
  for (auto& named : tensors) {
    if (const auto parsed = sample_name_from_text(named.name)) {
      samples[parsed->sample][parsed->index] = &named;
    }
  }
  return samples;
}

/// Copies the tensors that are const, and takes the others.
template <class Named>
Result<std::vector<Tensor>> sample_from_groups(const std::map<int, TensorsByIndex<Named>>& samples,
                                               int all, int sample) {
  const auto found = samples.find(sample);
  if (found == samples.end()) {
    return fail(ErrorCode::kNotFound, fmt::format("no sample {}; there are {}", sample, all));
  }
  const auto& by_index = found->second;
  if (by_index.rbegin()->first != static_cast<int>(by_index.size()) - 1) {
    return fail(ErrorCode::kNotFound,
                fmt::format("sample {} has {} tensors, the last of them {}.{}; "
                            "one between is missing",
                            sample, by_index.size(), sample, by_index.rbegin()->first));
  }
  std::vector<Tensor> ordered;
  ordered.reserve(by_index.size());
  for (const auto& [index, named] : by_index) {
    ordered.push_back(std::move(named->tensor));
  }
  return ordered;
}

template <class Named>
Result<std::vector<std::vector<Tensor>>> first_samples(std::span<Named> tensors, int all,
                                                       int count) {
  const auto groups = group_by_sample(tensors);
  std::vector<std::vector<Tensor>> samples;
  for (int i = 0; i < count; ++i) {
    ASSAY_ASSIGN_OR_RETURN(auto sample, sample_from_groups<Named>(groups, all, i));
    samples.push_back(std::move(sample));
  }
  return samples;
}

}  // namespace

Result<std::vector<Tensor>> sample_from_tensors(std::span<const NamedTensor> tensors, int sample) {
  return sample_from_groups<const NamedTensor>(group_by_sample(tensors), count_samples(tensors),
                                               sample);
}

Result<std::vector<std::vector<Tensor>>> samples_from_tensors(std::span<const NamedTensor> tensors,
                                                              std::optional<int> count) {
  const int all = count_samples(tensors);
  return first_samples(tensors, all, count.value_or(all));
}

Result<std::vector<std::vector<Tensor>>> read_samples(const std::filesystem::path& path,
                                                      int count) {
  int all = 0;
  ASSAY_ASSIGN_OR_RETURN(auto tensors, read_safetensors_where(path, [&](std::string_view name) {
                           const auto parsed = sample_name_from_text(name);
                           all = std::max(all, parsed ? parsed->sample + 1 : 0);
                           return parsed && parsed->sample < count;
                         }));
  auto samples = first_samples(std::span(tensors), all, count);
  if (!samples) {
    return fail_with_context(std::move(samples).error(), path.string());
  }
  return samples;
}

Result<int> count_samples_of_file(const std::filesystem::path& path) {
  int all = 0;
  ASSAY_RETURN_IF_ERROR(read_safetensors_where(path, [&all](std::string_view name) {
    const auto parsed = sample_name_from_text(name);
    all = std::max(all, parsed ? parsed->sample + 1 : 0);
    return false;
  }));
  return all;
}

int count_samples(std::span<const NamedTensor> tensors) {
  int count = 0;
  for (const auto& tensor : tensors) {
    if (const auto parsed = sample_name_from_text(tensor.name)) {
      count = std::max(count, parsed->sample + 1);
    }
  }
  return count;
}

}  // namespace assay
