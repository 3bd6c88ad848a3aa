#include "assay/engine/testing/fake_checkout.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <stdlib.h>
#include <string>

#include "assay/base/fs.h"
#include "assay/engine/checkout_backends.h"
#include "assay/engine/checkout_check.h"

namespace assay {
namespace {

constexpr const char* kVersionFile =
    "set(PACKAGE_VERSION \"1.5.1\")\nset(EXECUTORCH_BUILD_VERSION \"1.5.1+cpu\")\n";
constexpr const char* kFlatbuffersHeader =
    "#define FLATBUFFERS_VERSION_MAJOR 24\n#define FLATBUFFERS_VERSION_MINOR 3\n"
    "#define FLATBUFFERS_VERSION_REVISION 25\n";
constexpr const char* kShader =
    "#version 450 core\n#extension GL_KNOWN : require\n  #extension GL_NEW : require\n";
// Refuses what requires GL_NEW.
constexpr const char* kGlslc =
    "case \"$1\" in --version) echo 'shaderc 2023.2'; exit 0;; esac\n"
    "for word; do case \"$word\" in *.glsl) ! /bin/grep -q GL_NEW \"$word\"; exit;; esac; done\n";

}  // namespace

void FakeCheckout::SetUp() {
  path_ = std::getenv("PATH");
  ::setenv("PATH", path("bin").c_str(), 1);
  ::unsetenv("VULKAN_SDK");
  ::unsetenv("EXECUTORCH_VGF_ROOT");
  ::unsetenv("CXX");
  write("executorch/version.txt", "1.5.0\n");
  write("executorch/third-party/flatbuffers/include/flatbuffers/base.h", kFlatbuffersHeader);
  write("executorch/backends/vulkan/runtime/graph/ops/glsl/conv.glsl", kShader);
  for (const auto& backend : checkout_backends()) {
    for (const auto& file : backend.files) {
      write("executorch/" + std::string(file.path));
    }
  }
  write("installed/executorch-config.cmake");
  write("installed/executorch-config-version.cmake", kVersionFile);
  write("vgf/lib/libvgf.a");
  write("vgf/include/vgf/decoder.hpp");
  write_program("cmake", fmt::format("case \"$1\" in --version) echo 'cmake version 3.31.6';; "
                                     "*) echo \"$@\" >> {} ;; esac\n",
                                     path("calls").string()));
  write_program("ninja", "echo 1.12.1\n");
  write_program("c++", "");
  write_program("glslc", kGlslc);
  write_program("flatc", "echo flatc version 24.3.25\n");
  // Has every module, and finds the folder of libvgf.a.
  write_program("python", fmt::format("echo {}\n", path("vgf").string()));
}

void FakeCheckout::TearDown() { ::setenv("PATH", path_.c_str(), 1); }

void FakeCheckout::write_program(const std::string& name, const std::string& script) const {
  ASSERT_TRUE(write_file_atomically(path("bin/" + name), "#!/bin/sh\n" + script, 0755));
}

void FakeCheckout::write(const std::string& below, const std::string& text) const {
  if (!std::filesystem::exists(path(below))) {
    ASSERT_TRUE(write_file_atomically(path(below), text));
  }
}

CheckoutRequest FakeCheckout::request(const std::string& backend) const {
  return {.checkout = path("executorch"),
          .backends = {find_checkout_backend(backend).value()},
          .prefix = path("installed"),
          .python = path("bin/python"),
          .cmake = path("bin/cmake")};
}

std::string FakeCheckout::cmake_calls() const { return read_file(path("calls")).value_or(""); }

}  // namespace assay
