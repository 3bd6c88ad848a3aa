#include "fixedpoint/c_api.h"

#include "fixedpoint/executor.h"
#include "fixedpoint/format.h"
#include "fixedpoint/kernels.h"

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

struct fixedpoint_program {
  std::vector<std::byte> blob;
  std::unique_ptr<fixedpoint::Executor> executor;
};

namespace {

class CallingObserver : public fixedpoint::Observer {
 public:
  CallingObserver(fixedpoint_observer call, void* context) : call_(call), context_(context) {}
  void before(const fixedpoint::OperationRecord& /*operation*/) override {}
  void after(const fixedpoint::OperationRecord& operation,
             std::span<const std::byte> made) override {
    call_(context_, operation.handle, made.data(), made.size());
  }

 private:
  fixedpoint_observer call_;
  void* context_;
};

void write_error(const std::string& text, char* error, size_t error_bytes) {
  if (error != nullptr && error_bytes > 0) {
    std::snprintf(error, error_bytes, "%s", text.c_str());
  }
}

}  // namespace

fixedpoint_program* fixedpoint_open(const void* blob, size_t bytes, const char* isa, char* error,
                                    size_t error_bytes) {
  try {
    auto program = std::make_unique<fixedpoint_program>();
    const auto* data = static_cast<const std::byte*>(blob);
    program->blob.assign(data, data + bytes);
    auto executor = fixedpoint::Executor::open(program->blob, isa != nullptr ? isa : "");
    if (!executor) {
      write_error(executor.error(), error, error_bytes);
      return nullptr;
    }
    program->executor = std::move(*executor);
    return program.release();
  } catch (const std::bad_alloc&) {
    write_error("there is not enough memory for the program", error, error_bytes);
    return nullptr;
  }
}

int fixedpoint_execute(fixedpoint_program* program, const void* const* inputs, void* const* outputs,
                       fixedpoint_observer observer, void* context, char* error,
                       size_t error_bytes) {
  const auto& shape = program->executor->program();
  CallingObserver calling(observer, context);
  const auto status =
      program->executor->execute({inputs, shape.inputs.size()}, {outputs, shape.outputs.size()},
                                 observer != nullptr ? &calling : nullptr);
  if (!status) {
    write_error(status.error(), error, error_bytes);
    return 1;
  }
  return 0;
}

void fixedpoint_close(fixedpoint_program* program) { delete program; }

const char* fixedpoint_isa_names() {
  static const std::string all = [] {
    std::string names;
    for (const auto* kernels : fixedpoint::all_kernels()) {
      if (kernels->is_supported()) {
        names += (names.empty() ? "" : ",") + std::string(kernels->isa);
      }
    }
    return names;
  }();
  return all.c_str();
}
