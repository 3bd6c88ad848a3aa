// Whatever the bytes are, the readers of tensor files never read outside of them, and what was read
// can be written and read again with the same content.
#include <cstddef>
#include <cstdint>
#include <span>

#include "assay/base/result.h"
#include "assay/tensor/npy.h"
#include "assay/tensor/safetensors.h"
#include "assay/tensor/tensor.h"

namespace {

bool is_same(const assay::Tensor& a, const assay::Tensor& b) {
  return a.dtype == b.dtype && a.shape == b.shape && a.data == b.data;
}

void check_safetensors(std::span<const std::byte> bytes) {
  const auto tensors = assay::tensors_from_safetensors(bytes);
  if (!tensors) {
    return;
  }
  (void)assay::sample_from_tensors(*tensors, assay::count_samples(*tensors) - 1);
  const auto again = assay::tensors_from_safetensors(assay::safetensors_from_tensors(*tensors));
  ASSAY_CHECK(again && again->size() == tensors->size());
  for (std::size_t i = 0; i < tensors->size(); ++i) {
    const auto& [name, tensor] = (*tensors)[i];
    ASSAY_CHECK((*again)[i].name == name && is_same((*again)[i].tensor, tensor));
    (void)assay::doubles_from_tensor(tensor.view());
  }
}

void check_npy(std::span<const std::byte> bytes) {
  if (const auto tensor = assay::tensor_from_npy(bytes)) {
    const auto document = assay::npy_from_tensor(tensor->view());
    if (document) {
      const auto again = assay::tensor_from_npy(*document);
      ASSAY_CHECK(again && is_same(*again, *tensor));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  check_safetensors(bytes);
  check_npy(bytes);
  return 0;
}
