#pragma once

#include "fixedpoint/embedding.h"
#include "fixedpoint/format.h"
#include "fixedpoint/masked_softmax.h"
#include "fixedpoint/operations.h"
#include "fixedpoint/program.h"
#include "fixedpoint/result.h"
#include "fixedpoint/transformer.h"

namespace fixedpoint {

/// Decodes the record of an operation, checked against the sizes of its tensors: whatever these
/// return, a kernel reads and writes only within them. Errors say what is wrong.
///
/// No accumulator of a convolution or pool can leave 32 bits, with int16 48, and no product with
/// its multiplier what the requantization computes in: proved from the weights.
Result<Conv2d> decode_conv2d(const Program& program, const OperationRecord& operation);
Result<Add> decode_add(const Program& program, const OperationRecord& operation);
Result<Mul> decode_mul(const Program& program, const OperationRecord& operation);
Result<AvgPool2d> decode_avg_pool2d(const Program& program, const OperationRecord& operation);
Result<MaxPool2d> decode_max_pool2d(const Program& program, const OperationRecord& operation);
Result<Table> decode_table(const Program& program, const OperationRecord& operation);
Result<Copy> decode_copy(const Program& program, const OperationRecord& operation);
/// Quantize or dequantize.
Result<Boundary> decode_boundary(const Program& program, const OperationRecord& operation);
/// Numbers of slices that each input and the output are divided into.
Result<std::int64_t> decode_concat(const Program& program, const OperationRecord& operation);
Result<Matmul> decode_matmul(const Program& program, const OperationRecord& operation);
Result<Softmax> decode_softmax(const Program& program, const OperationRecord& operation);
Result<LayerNorm> decode_layer_norm(const Program& program, const OperationRecord& operation);
Result<MaskedSoftmax> decode_masked_softmax(const Program& program,
                                            const OperationRecord& operation);
/// Indices that are constants are rows of the table.
Result<Embedding> decode_embedding(const Program& program, const OperationRecord& operation);

}  // namespace fixedpoint
