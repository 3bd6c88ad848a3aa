#include "fixedpoint/executor.h"

#include "fixedpoint/decode.h"
#include "fixedpoint/format.h"
#include "fixedpoint/kernels.h"
#include "fixedpoint/operations.h"
#include "fixedpoint/program.h"
#include "fixedpoint/result.h"
#include "fixedpoint/transformer.h"
#include "fixedpoint/workers.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fixedpoint {
namespace {

using Arguments = std::span<const std::int8_t* const>;
using Run = std::function<void(Arguments, std::int8_t*)>;

/// Vector kernels may read, never write, this far behind a tensor.
constexpr std::size_t kSlack = 64;

/// A convolution whose parts run at the same time.
struct SharedConv {
  std::shared_ptr<ConvKernel> kernel;
  Workers* workers;

  void operator()(Arguments in, std::int8_t* out) const {
    struct Call {
      ConvKernel& kernel;
      const std::int8_t* in;
      std::int8_t* out;
    } call{*kernel, in[0], out};
    workers->run(
        [](void* context, int part) {
          const auto& c = *static_cast<const Call*>(context);
          c.kernel.run_part(c.in, c.out, part);
        },
        &call);
  }
};

Run run_conv2d(const Kernels& kernels, const Conv2d& conv, Workers* workers) {
  std::shared_ptr<ConvKernel> kernel = kernels.make_conv2d(conv);
  if (workers != nullptr && kernel->split(workers->count()) > 1) {
    return SharedConv{kernel, workers};
  }
  return [kernel](Arguments in, std::int8_t* out) { kernel->run(in[0], out); };
}

Run run_matmul(const Kernels& kernels, const Matmul& matmul) {
  std::shared_ptr<MatmulKernel> kernel = kernels.make_matmul(matmul);
  return [kernel](Arguments in, std::int8_t* out) { kernel->run(in[0], in[1], out); };
}

/// The parts of a concatenation: one slice of each input after the other, `outer` times.
Run run_concat(const Program& program, const OperationRecord& operation, std::int64_t outer) {
  std::vector<std::int64_t> sizes;
  for (const auto index : program.inputs_of(operation)) {
    sizes.push_back(static_cast<std::int64_t>(program.tensors[index].bytes) / outer);
  }
  return [outer, sizes](Arguments in, std::int8_t* out) {
    for (std::int64_t slice = 0; slice < outer; ++slice) {
      for (std::size_t part = 0; part < sizes.size(); ++part) {
        std::memcpy(out, in[part] + slice * sizes[part], sizes[part]);
        out += sizes[part];
      }
    }
  };
}

/// Wraps what was decoded into what runs; passes errors on.
template <class Decoded, class Wrap>
Result<Run> wrap(const Result<Decoded>& decoded, Wrap make) {
  if (!decoded) {
    return fail(decoded.error());
  }
  return Run(make(*decoded));
}

}  // namespace

void Executor::FreeArena::operator()(std::byte* memory) const {
  ::operator delete(memory, std::align_val_t{kAlignment});
}

Result<std::unique_ptr<Executor>> Executor::open(std::span<const std::byte> blob,
                                                 std::string_view isa, Workers* workers) {
  const auto* kernels = find_kernels(isa);
  if (kernels == nullptr) {
    std::string names;
    for (const auto* one : all_kernels()) {
      names += one->is_supported() ? " " + std::string(one->isa) : "";
    }
    return fail("this processor has no kernels '" + std::string(isa) + "'; it has:" + names);
  }
  auto program = read_program(blob);
  if (!program) {
    return fail(program.error());
  }
  std::unique_ptr<Executor> executor(new Executor(std::move(*program), *kernels, workers));
  if (auto status = executor->prepare(); !status) {
    return fail(status.error());
  }
  return executor;
}

Status Executor::prepare() {
  std::size_t most_inputs = 0;
  for (const auto& operation : program_.operations) {
    auto step = make_step(operation);
    if (!step) {
      return fail("operation " + std::to_string(steps_.size()) + ": " + step.error());
    }
    most_inputs = std::max(most_inputs, step->inputs.size());
    steps_.push_back(std::move(*step));
  }
  arguments_.resize(most_inputs);
  return take_arena();
}

/// Last, so that a program that nothing can run takes no memory.
Status Executor::take_arena() {
  const std::size_t bytes = program_.arena_bytes + kSlack;
  arena_.reset(
      static_cast<std::byte*>(::operator new(bytes, std::align_val_t{kAlignment}, std::nothrow)));
  if (arena_ == nullptr) {
    return fail("there is no memory for an arena of " + std::to_string(bytes) + " bytes");
  }
  std::memset(arena_.get(), 0, bytes);
  places_.resize(program_.tensors.size());
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const auto& tensor = program_.tensors[i];
    if (tensor.place == Place::kArena) {
      places_[i] = arena_.get() + tensor.offset;
    } else if (tensor.place == Place::kConstant) {
      places_[i] = const_cast<std::byte*>(program_.constant(tensor));  // never written: checked
    }
  }
  return {};
}

Result<Executor::Step> Executor::make_step(const OperationRecord& operation) {
  auto run = make_run(operation);
  if (!run) {
    return fail(run.error());
  }
  const auto inputs = program_.inputs_of(operation);
  return Step{
      .record = operation, .inputs = {inputs.begin(), inputs.end()}, .run = std::move(*run)};
}

Result<Run> Executor::make_run(const OperationRecord& operation) const {
  // Vector kernels round half up only.
  const bool is_half_up = operation.rounding == static_cast<int>(Rounding::kHalfUp);
  const Kernels& k = is_half_up ? *kernels_ : scalar_kernels();
  switch (operation.kind) {
    case Kind::kConv2d:
      return wrap(decode_conv2d(program_, operation),
                  [&](const Conv2d& op) { return run_conv2d(k, op, workers_); });
    case Kind::kAdd:
      return wrap(decode_add(program_, operation), [&](const Add& op) {
        return [&k, op](Arguments in, std::int8_t* out) { k.add(op, in[0], in[1], out); };
      });
    case Kind::kMul:
      return wrap(decode_mul(program_, operation), [&](const Mul& op) {
        return [&k, op](Arguments in, std::int8_t* out) { k.mul(op, in[0], in[1], out); };
      });
    case Kind::kAvgPool2d:
      return wrap(decode_avg_pool2d(program_, operation), [&](const AvgPool2d& op) {
        return [&k, op](Arguments in, std::int8_t* out) { k.avg_pool2d(op, in[0], out); };
      });
    case Kind::kMaxPool2d:
      return wrap(decode_max_pool2d(program_, operation), [&](const MaxPool2d& op) {
        return [&k, op](Arguments in, std::int8_t* out) { k.max_pool2d(op, in[0], out); };
      });
    case Kind::kTable:
      return wrap(decode_table(program_, operation), [&](const std::int8_t* results) {
        const std::int64_t count = operation.attributes[0];
        return [&k, results, count](Arguments in, std::int8_t* out) {
          k.table(results, count, in[0], out);
        };
      });
    case Kind::kCopy:
      return wrap(decode_copy(program_, operation), [](const Copy& op) {
        return [op](Arguments in, std::int8_t* out) { copy(op, in[0], out); };
      });
    case Kind::kQuantize:
      return wrap(decode_boundary(program_, operation), [](const Boundary& op) {
        return [op](Arguments in, std::int8_t* out) {
          quantize(op, reinterpret_cast<const float*>(in[0]), out);
        };
      });
    case Kind::kDequantize:
      return wrap(decode_boundary(program_, operation), [](const Boundary& op) {
        return [op](Arguments in, std::int8_t* out) {
          dequantize(op, in[0], reinterpret_cast<float*>(out));
        };
      });
    case Kind::kMatmul:
      return wrap(decode_matmul(program_, operation),
                  [&](const Matmul& op) { return run_matmul(*kernels_, op); });
    case Kind::kSoftmax:
      return wrap(decode_softmax(program_, operation), [&](const Softmax& op) {
        return [&k, op](Arguments in, std::int8_t* out) { k.softmax(op, in[0], out); };
      });
    case Kind::kLayerNorm:
      return wrap(decode_layer_norm(program_, operation), [&](const LayerNorm& op) {
        return [&k, op](Arguments in, std::int8_t* out) { k.layer_norm(op, in[0], out); };
      });
    case Kind::kConcat:
      return wrap(decode_concat(program_, operation),
                  [&](std::int64_t outer) { return run_concat(program_, operation, outer); });
  }
  return fail("this runtime does not know its kind, " +
              std::to_string(static_cast<int>(operation.kind)));
}

void Executor::execute(std::span<const void* const> inputs, std::span<void* const> outputs,
                       Observer* observer) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    places_[program_.inputs[i]] = static_cast<std::byte*>(const_cast<void*>(inputs[i]));
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    places_[program_.outputs[i]] = static_cast<std::byte*>(outputs[i]);
  }
  for (const auto& step : steps_) {
    for (std::size_t i = 0; i < step.inputs.size(); ++i) {
      const auto index = step.inputs[i];
      arguments_[i] =
          index == kAbsent ? nullptr : reinterpret_cast<const std::int8_t*>(places_[index]);
    }
    auto* out = reinterpret_cast<std::int8_t*>(places_[step.record.output]);
    if (observer != nullptr) {
      observer->before(step.record);
    }
    step.run(std::span(arguments_).first(step.inputs.size()), out);
    if (observer != nullptr) {
      const auto bytes = program_.tensors[step.record.output].bytes;
      observer->after(step.record, {places_[step.record.output], bytes});
    }
  }
}

}  // namespace fixedpoint
