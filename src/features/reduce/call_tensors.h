#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/tensor/tensor.h"

namespace assay {

/// A changed call, and in a few words what was done to it.
struct CallChange {
  Json call;
  std::string what;
};

/// True if a value of a call is a tensor: {"shape", "dtype", …}.
bool is_tensor(const Json& value);

std::int64_t elements_of(const Json& tensor);

/// Where the tensors of a call stand, in the order in which the program takes them.
std::vector<Json::json_pointer> tensors_of_call(const Json& call);

/// "args/0" of a place in a call, for people.
std::string text_of_place(const Json::json_pointer& path);

/// Writes the elements of a sample into the tensors that are inputs, constants excepted; what they
/// were drawn from is dropped, and no size is left open. Nothing where an element is not exact as a
/// JSON number.
std::vector<CallChange> with_data(const Json& call, const std::vector<Tensor>& sample);

/// The tensor cut to [begin, end) along a dimension, its data as well.
Json sliced(const Json& tensor, std::size_t dimension, std::int64_t begin, std::int64_t end);

/// Smaller shapes: an extent wherever it stands, with and without the numbers that are equal to it;
/// one dimension of one tensor; dimensions of size one that go. The largest cuts first.
std::vector<CallChange> smaller_shapes(const Json& call);

/// Plainer tensors: contiguous, float32, without domain or order, and normal values.
std::vector<CallChange> plainer_tensors(const Json& call);

}  // namespace assay
