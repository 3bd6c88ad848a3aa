#include "assay/supervise/child_environment.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <system_error>

#include <unistd.h>

namespace assay {
namespace {

/// A name that ends in * stands for all that begin so.
constexpr auto kPassed = std::to_array<std::string_view>({
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "TMPDIR",
    "TERM",
    "NO_COLOR",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "XDG_CONFIG_HOME",
    "HOSTNAME",
    // The loader and malloc.
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "LD_BIND_NOW",
    "LD_DEBUG",
    "OLDER_PROCESSOR",  // A library of bench reads it, which LD_PRELOAD loads.
    "GLIBC_TUNABLES",
    "MALLOC_*",
    "ASAN_*",
    "UBSAN_*",
    "LSAN_*",
    "TSAN_*",
    "LLVM_PROFILE_FILE",
    "VALGRIND_*",
    // Interpreters.
    "PYTHON*",
    "VIRTUAL_ENV",
    "CONDA_*",
    "JAVA_HOME",
    // Threads and numerics.
    "OMP_*",
    "GOMP_*",
    "KMP_*",
    "OPENBLAS_*",
    "MKL_*",
    "BLIS_*",
    "TBB_*",
    "ONEDNN_*",
    "DNNL_*",
    "CPUINFO_*",
    "XNN_*",
    "XNNPACK_*",
    "NUMEXPR_*",
    // Engines and accelerators.
    "ORT_*",
    "ONNXRUNTIME_*",
    "OV_*",
    "OPENVINO_*",
    "INTEL_*",
    "TORCH*",
    "PYTORCH_*",
    "EXECUTORCH_*",
    "ET_*",
    "ETVK_*",
    "TF_*",
    "TFLITE_*",
    "LITERT_*",
    "MODEL_CONVERTER_*",
    "TVM_*",
    "IREE_*",
    "CUDA_*",
    "NVIDIA_*",
    "ROCM_*",
    "HIP_*",
    "HSA_*",
    "VK_*",
    "MESA_*",
    "OCL_*",
    "QNN_*",
    "ADSP_*",
    "VSI_*",
    "VIVANTE_*",
    "ASSAY_*",
});

/// A name with such a word is that of a secret, whatever it begins with: NVIDIA_API_KEY,
/// TF_TOKEN_app_terraform_io, ASSAY_SITE_ADD_TOKEN.
constexpr auto kWordsOfSecrets = std::to_array<std::string_view>(
    {"TOKEN", "KEY", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL"});
/// Variables of Terraform hold what they are named for, and of Assay's a database's password.
constexpr auto kKeptBack = std::to_array<std::string_view>({"TF_VAR_*", "ASSAY_STORE"});

constexpr auto kSearchPaths =
    std::to_array<std::string_view>({"PATH", "LD_LIBRARY_PATH", "PYTHONPATH"});

bool matches(std::string_view name, std::string_view pattern) {
  return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1))
                                : name == pattern;
}

bool is_secret(std::string_view name) {
  std::string upper(name);
  std::ranges::transform(upper, upper.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return std::ranges::any_of(
             kWordsOfSecrets,
             [&upper](auto word) { return upper.find(word) != std::string::npos; }) ||
         std::ranges::any_of(kKeptBack, [name](auto pattern) { return matches(name, pattern); });
}

/// Entries that are relative begin at the current folder; an empty one would be that folder.
std::string absolute_search_path(std::string_view text) {
  std::string path;
  while (!text.empty()) {
    const auto colon = std::min(text.find(':'), text.size());
    const auto entry = text.substr(0, colon);
    text.remove_prefix(std::min(colon + 1, text.size()));
    if (!entry.empty()) {
      std::error_code error;
      path += (path.empty() ? "" : ":") + std::filesystem::absolute(entry, error).string();
    }
  }
  return path;
}

}  // namespace

bool is_passed_on(std::string_view name, std::string_view passed) {
  if (!is_secret(name) &&
      std::ranges::any_of(kPassed, [name](auto pattern) { return matches(name, pattern); })) {
    return true;
  }
  while (!passed.empty()) {
    const auto comma = std::min(passed.find(','), passed.size());
    if (matches(name, passed.substr(0, comma))) {
      return true;
    }
    passed.remove_prefix(std::min(comma + 1, passed.size()));
  }
  return false;
}

std::map<std::string, std::string> child_environment() {
  const char* named = std::getenv("ASSAY_PASS_ENV");
  const std::string_view passed = named == nullptr ? "" : named;
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto equals = std::min(text.find('='), text.size());
    const auto name = text.substr(0, equals);
    const auto value = text.substr(std::min(equals + 1, text.size()));
    if (is_passed_on(name, passed)) {
      const bool is_search_path = std::ranges::find(kSearchPaths, name) != kSearchPaths.end();
      variables.try_emplace(std::string(name),
                            is_search_path ? absolute_search_path(value) : std::string(value));
    }
  }
  return variables;
}

}  // namespace assay
