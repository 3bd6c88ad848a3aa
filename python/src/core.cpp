// The extension module assay._core: frames, tensors' errors and random tensors for Python, each one
// call into the library that the command line uses.
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/error_code_names.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/tensor/difference.h"
#include "assay/tensor/tensor.h"
#include "assay/wire/channel.h"
#include "assay/wire/checksum.h"
#include "assay/wire/frame.h"

namespace nb = nanobind;

namespace assay {
namespace {

using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Doubles = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using OwnedBytes = nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<1>>;

/// Raises assay.AssayError.
[[noreturn]] void raise(const Error& error) {
  const auto type = nb::module_::import_("assay._errors").attr("AssayError");
  const auto value = type(error.message, nb::arg("code") = std::string(name_of(error.code)));
  PyErr_SetObject(type.ptr(), value.ptr());
  throw nb::python_error();
}

template <class T>
T value_or_raise(Result<T> result) {
  if (!result) {
    raise(result.error());
  }
  return *std::move(result);
}

std::span<const std::byte> span_of(const Bytes& bytes) {
  return std::as_bytes(std::span(bytes.data(), bytes.size()));
}

/// Hands the bytes over to numpy without a copy.
OwnedBytes array_from_bytes(std::vector<std::byte> bytes) {
  auto* owned = new std::vector<std::byte>(std::move(bytes));
  const nb::capsule owner(
      owned, [](void* pointer) noexcept { delete static_cast<std::vector<std::byte>*>(pointer); });
  return OwnedBytes(reinterpret_cast<std::uint8_t*>(owned->data()), {owned->size()}, owner);
}

wire::Frame frame_from_python(const std::string& type, std::uint32_t request,
                              const std::string& body, const Bytes& blob) {
  const auto message = find_enum<wire::MessageType>(type);
  if (!message) {
    raise({.code = ErrorCode::kInvalidArgument, .message = "unknown message type '" + type + "'"});
  }
  const auto bytes = span_of(blob);
  return {.type = *message,
          .request = request,
          .body = value_or_raise(parse_json(body, "message")),
          .blob = {bytes.begin(), bytes.end()}};
}

/// (type, request, body as JSON text, blob); a type unknown here is its number.
nb::tuple python_from_frame(wire::Frame frame) {
  auto type = std::string(name_of(frame.type));
  if (!find_enum<wire::MessageType>(type)) {
    type = std::to_string(static_cast<int>(frame.type));
  }
  return nb::make_tuple(type, frame.request,
                        frame.body.dump(-1, ' ', false, Json::error_handler_t::replace),
                        array_from_bytes(std::move(frame.blob)));
}

void send(wire::Channel& channel, const std::string& type, std::uint32_t request,
          const std::string& body, const Bytes& blob) {
  const auto frame = frame_from_python(type, request, body, blob);
  Status sent;
  {
    const nb::gil_scoped_release released;
    sent = channel.send(frame);
  }
  if (!sent) {
    raise(sent.error());
  }
}

std::optional<nb::tuple> receive(wire::Channel& channel, int timeout_ms) {
  Result<std::optional<wire::Frame>> received;
  {
    const nb::gil_scoped_release released;
    received = channel.receive(timeout_ms);
  }
  auto frame = value_or_raise(std::move(received));
  return frame ? std::optional(python_from_frame(*std::move(frame))) : std::nullopt;
}

OwnedBytes encode_frame(const std::string& type, std::uint32_t request, const std::string& body,
                        const Bytes& blob) {
  return array_from_bytes(wire::bytes_from_frame(frame_from_python(type, request, body, blob)));
}

nb::list decode_frames(const Bytes& bytes) {
  auto sequence = wire::frames_from_bytes(span_of(bytes));
  if (!sequence.status) {
    raise(sequence.status.error());
  }
  nb::list frames;
  for (auto& frame : sequence.frames) {
    frames.append(python_from_frame(std::move(frame)));
  }
  return frames;
}

nb::dict python_from_difference(const Difference& found) {
  nb::dict result;
  result["compared"] = found.compared;
  result["nan_in_result"] = found.nan_in_result;
  result["nan_in_reference"] = found.nan_in_reference;
  result["inf_in_result"] = found.inf_in_result;
  result["inf_in_reference"] = found.inf_in_reference;
  result["mismatched_non_finite"] = found.mismatched_non_finite;
  result["reference_rms"] = found.reference_rms;
  result["max_abs"] = found.max_abs;
  result["mean_abs"] = found.mean_abs;
  result["max_rel"] = found.max_rel;
  result["mean_rel"] = found.mean_rel;
  result["l2"] = found.l2;
  result["relative_l2"] = found.relative_l2;
  result["sqnr_db"] = found.sqnr_db;
  result["cosine_similarity"] = found.cosine_similarity;
  result["scaled_max"] = found.scaled_max;
  if (found.max_steps && found.mean_steps) {
    result["max_steps"] = *found.max_steps;
    result["mean_steps"] = *found.mean_steps;
  }
  return result;
}

nb::dict difference(const Doubles& result, const Doubles& reference, std::optional<double> step) {
  if (result.size() != reference.size()) {
    raise({.code = ErrorCode::kInvalidArgument,
           .message = fmt::format("the result has {} elements, the reference {}", result.size(),
                                  reference.size())});
  }
  return python_from_difference(difference_between({result.data(), result.size()},
                                                   {reference.data(), reference.size()}, step));
}

OwnedBytes random_bytes(const std::string& dtype, Shape shape, std::uint64_t seed) {
  const auto type = find_enum<Dtype>(dtype);
  if (!type) {
    raise({.code = ErrorCode::kInvalidArgument, .message = "unknown dtype '" + dtype + "'"});
  }
  const TensorSpec spec{.name = {}, .dtype = *type, .shape = std::move(shape), .quantization = {}};
  if (auto status = check_size(spec); !status) {
    raise(std::move(status).error());
  }
  return array_from_bytes(std::move(random_tensor(spec, seed).data));
}

}  // namespace
}  // namespace assay

NB_MODULE(_core, module) {
  using namespace assay;  // NOLINT(google-build-using-namespace): one module, one namespace.
  module.doc() = "Assay's library for Python: frames, errors of tensors, random tensors.";
  nb::class_<wire::Channel>(module, "Channel", "Frames over two file descriptors.")
      .def(nb::init<int, int>(), nb::arg("read_fd"), nb::arg("write_fd"))
      .def("send", &send, nb::arg("type"), nb::arg("request"), nb::arg("body"), nb::arg("blob"))
      .def("receive", &receive, nb::arg("timeout_ms") = -1);
  module.def("encode_frame", &encode_frame, nb::arg("type"), nb::arg("request"), nb::arg("body"),
             nb::arg("blob"));
  module.def("decode_frames", &decode_frames, nb::arg("data"));
  module.def(
      "crc32c", [](const Bytes& bytes) { return wire::frame_checksum({span_of(bytes)}); },
      nb::arg("data"));
  module.def("difference", &difference, nb::arg("result"), nb::arg("reference"),
             nb::arg("step") = nb::none());
  module.def("random_bytes", &random_bytes, nb::arg("dtype"), nb::arg("shape"), nb::arg("seed"));
}
