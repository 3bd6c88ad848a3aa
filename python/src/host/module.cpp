// The extension module assay._host: runs an engine that is written in Python as a runner, with the
// same loop around it that the engines in C++ have.
#include "host/python_engine.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <string>
#include <utility>
#include <vector>

#include <dlfcn.h>

#include "assay/allocation/preload.h"
#include "assay/device/malloc_reader.h"
#include "assay/runner/runner.h"

namespace nb = nanobind;

namespace {

/// Reader of the library that the start of the runner preloaded for the memory pass.
assay::MallocReader preloaded_malloc() {
  using Reader = const assay::MallocReader*();
  auto* const reader = reinterpret_cast<Reader*>(::dlsym(RTLD_DEFAULT, kPreloadedMalloc));
  return reader != nullptr
             ? *reader()
             : assay::MallocReader{.unavailable = "libassay-allocation.so is not preloaded"};
}

int run(nb::object adapter, std::vector<std::string> arguments) {
  assay::host::PythonEngine engine(std::move(adapter));
  std::vector<char*> argv;
  argv.reserve(arguments.size());
  for (auto& argument : arguments) {
    argv.push_back(argument.data());
  }
  const nb::gil_scoped_release released;
  return assay::run_runner(engine, static_cast<int>(argv.size()), argv.data(), preloaded_malloc());
}

}  // namespace

NB_MODULE(_host, module) {
  module.doc() = "The loop of a runner, for engines that are written in Python.";
  module.def("run", &run, nb::arg("adapter"), nb::arg("arguments"));
}
