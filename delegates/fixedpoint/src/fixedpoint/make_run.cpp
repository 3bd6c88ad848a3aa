#include "fixedpoint/make_run.h"

#include "fixedpoint/decode.h"
#include "fixedpoint/embedding.h"
#include "fixedpoint/format.h"
#include "fixedpoint/kernels.h"
#include "fixedpoint/masked_softmax.h"
#include "fixedpoint/operations.h"
#include "fixedpoint/program.h"
#include "fixedpoint/result.h"
#include "fixedpoint/scratch.h"
#include "fixedpoint/transformer.h"
#include "fixedpoint/validate.h"
#include "fixedpoint/workers.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace fixedpoint {
namespace {

/// Input of the making of an operation.
struct Context {
  const Program& program;
  const OperationRecord& operation;
  const Kernels& kernels;
  Workers* workers;
  const std::shared_ptr<Scratch>& scratch;
};

/// The kernels for one type of activations.
template <class T>
const auto& kernels_of(const Kernels& kernels) {
  if constexpr (std::is_same_v<T, std::int8_t>) {
    return kernels;
  } else {
    return *kernels.of_16_bits;
  }
}

template <class T>
const T* input(Arguments in, std::size_t position = 0) {
  return static_cast<const T*>(in[position]);
}

/// A convolution whose parts run at the same time.
template <class T>
struct SharedConv {
  std::shared_ptr<TypedConvKernel<T>> kernel;
  Workers* workers;

  void operator()(Arguments in, void* out) const {
    struct Call {
      TypedConvKernel<T>& kernel;
      const T* in;
      T* out;
    } call{*kernel, input<T>(in), static_cast<T*>(out)};
    workers->run(
        [](void* context, int part) {
          const auto& c = *static_cast<const Call*>(context);
          c.kernel.run_part(c.in, c.out, part);
        },
        &call);
  }
};

template <class T>
Run run_conv2d(const Kernels& kernels, Conv2d conv, Workers* workers,
               const std::shared_ptr<Scratch>& scratch) {
  conv.scratch = scratch;
  std::shared_ptr<TypedConvKernel<T>> kernel = kernels_of<T>(kernels).make_conv2d(conv);
  if (workers != nullptr && kernel->split(workers->count()) > 1) {
    return SharedConv<T>{kernel, workers};
  }
  return [kernel](Arguments in, void* out) { kernel->run(input<T>(in), static_cast<T*>(out)); };
}

template <class T>
Run run_matmul(const Kernels& kernels, const Matmul& op) {
  std::shared_ptr<TypedMatmulKernel<T>> kernel = kernels_of<T>(kernels).make_matmul(op);
  return [kernel](Arguments in, void* out) {
    kernel->run(input<T>(in), input<T>(in, 1), static_cast<T*>(out));
  };
}

/// The parts of a concatenation: one slice of each input after the other, `outer` times.
Run run_concat(const Context& c, std::int64_t outer) {
  std::vector<std::int64_t> sizes;
  for (const auto index : c.program.inputs_of(c.operation)) {
    sizes.push_back(static_cast<std::int64_t>(c.program.tensors[index].bytes) / outer);
  }
  return [outer, sizes](Arguments in, void* out) {
    auto* place = static_cast<std::byte*>(out);
    for (std::int64_t slice = 0; slice < outer; ++slice) {
      for (std::size_t part = 0; part < sizes.size(); ++part) {
        std::memcpy(place, input<std::byte>(in, part) + slice * sizes[part], sizes[part]);
        place += sizes[part];
      }
    }
  };
}

/// Decodes; wraps what was decoded into what runs; passes errors on.
template <class Decoded, class Wrap>
Result<Run> wrap(Result<Decoded> (*decode)(const Program&, const OperationRecord&),
                 const Context& c, Wrap make) {
  const auto decoded = decode(c.program, c.operation);
  if (!decoded) {
    return fail(decoded.error());
  }
  return Run(make(*decoded));
}

Result<Run> unknown_kind(const OperationRecord& operation) {
  return fail("this runtime does not know its kind, " +
              std::to_string(static_cast<int>(operation.kind)));
}

template <class T>
Run make_quantize(const Boundary& op, const Kernels& kernels) {
  if constexpr (std::is_same_v<T, std::int8_t>) {
    return [op, pixels = kernels.quantize_pixels](Arguments in, void* out) {
      quantize(op, input<float>(in), static_cast<T*>(out), pixels);
    };
  } else {
    return [op](Arguments in, void* out) { quantize(op, input<float>(in), static_cast<T*>(out)); };
  }
}

/// Operations that only move data, and the boundary.
template <class T>
Result<Run> make_moving(const Context& c) {
  switch (c.operation.kind) {
    case Kind::kCopy:
      return wrap(decode_copy, c, [](const Copy& op) {
        return [op](Arguments in, void* out) { copy(op, input<T>(in), static_cast<T*>(out)); };
      });
    case Kind::kQuantize:
      return wrap(decode_boundary, c,
                  [&](const Boundary& op) { return make_quantize<T>(op, c.kernels); });
    case Kind::kDequantize:
      return wrap(decode_boundary, c, [](const Boundary& op) {
        return [op](Arguments in, void* out) {
          dequantize(op, input<T>(in), static_cast<float*>(out));
        };
      });
    case Kind::kConcat:
      return wrap(decode_concat, c, [&](std::int64_t outer) { return run_concat(c, outer); });
    default:
      return unknown_kind(c.operation);
  }
}

template <class T>
Result<Run> make_of_transformer(const Context& c) {
  const auto& k = kernels_of<T>(c.kernels);
  switch (c.operation.kind) {
    case Kind::kMatmul:
      return wrap(decode_matmul, c, [&](const Matmul& op) { return run_matmul<T>(c.kernels, op); });
    case Kind::kSoftmax:
      return wrap(decode_softmax, c, [&](const Softmax& op) {
        return [&k, op](Arguments in, void* out) {
          k.softmax(op, input<T>(in), static_cast<T*>(out));
        };
      });
    case Kind::kMaskedSoftmax:
      return wrap(decode_masked_softmax, c, [&](const MaskedSoftmax& op) {
        return [&k, op](Arguments in, void* out) {
          k.masked_softmax(op, input<T>(in), input<std::uint8_t>(in, 2), static_cast<T*>(out));
        };
      });
    case Kind::kLayerNorm:
      return wrap(decode_layer_norm, c, [&](const LayerNorm& op) {
        return [&k, op](Arguments in, void* out) {
          k.layer_norm(op, input<T>(in), static_cast<T*>(out));
        };
      });
    case Kind::kEmbedding:
      return wrap(decode_embedding, c, [](const Embedding& op) {
        return [op](Arguments in, void* out) { embedding(op, in[0], static_cast<T*>(out)); };
      });
    default:
      return make_moving<T>(c);
  }
}

template <class T>
Result<Run> make_typed(const Context& c) {
  // Vector kernels round half up only.
  const bool is_half_up = c.operation.rounding == static_cast<int>(Rounding::kHalfUp);
  const Kernels& fitting = is_half_up ? c.kernels : scalar_kernels();
  const auto& k = kernels_of<T>(fitting);
  switch (c.operation.kind) {
    case Kind::kConv2d:
      return wrap(decode_conv2d, c, [&](const Conv2d& op) {
        return run_conv2d<T>(fitting, op, c.workers, c.scratch);
      });
    case Kind::kAdd:
      return wrap(decode_add, c, [&](const Add& op) {
        return [&k, op](Arguments in, void* out) {
          k.add(op, input<T>(in), input<T>(in, 1), static_cast<T*>(out));
        };
      });
    case Kind::kMul:
      return wrap(decode_mul, c, [&](const Mul& op) {
        return [&k, op](Arguments in, void* out) {
          k.mul(op, input<T>(in), input<T>(in, 1), static_cast<T*>(out));
        };
      });
    case Kind::kAvgPool2d:
      return wrap(decode_avg_pool2d, c, [&](const AvgPool2d& op) {
        return [&k, op](Arguments in, void* out) {
          k.avg_pool2d(op, input<T>(in), static_cast<T*>(out));
        };
      });
    case Kind::kMaxPool2d:
      return wrap(decode_max_pool2d, c, [&](const MaxPool2d& op) {
        return [&k, op](Arguments in, void* out) {
          k.max_pool2d(op, input<T>(in), static_cast<T*>(out));
        };
      });
    case Kind::kTable:
      return wrap(decode_table, c, [&](const Table& op) {
        return [&k, op](Arguments in, void* out) {
          k.table(static_cast<const T*>(op.entries), op.count, input<T>(in), static_cast<T*>(out));
        };
      });
    default:
      return make_of_transformer<T>(c);
  }
}

}  // namespace

Result<Run> make_run(const Program& program, const OperationRecord& operation,
                     const Kernels& kernels, Workers* workers,
                     const std::shared_ptr<Scratch>& scratch) {
  const Context context{program, operation, kernels, workers, scratch};
  return type_of(program, operation).dtype == DType::kInt16 ? make_typed<std::int16_t>(context)
                                                            : make_typed<std::int8_t>(context);
}

}  // namespace fixedpoint
