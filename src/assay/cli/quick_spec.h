#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/spec/spec.h"

namespace assay::cli {

/// The flags that describe one model and a small matrix, for verbs that need no spec file. Lists
/// make a matrix, as in a spec.
struct QuickSpec {
  std::string model;
  std::vector<std::string> recipes;
  std::vector<std::string> engines;
  std::vector<std::string> options;       ///< name=value[,value]
  std::vector<std::string> scenario;      ///< name=value[,value]: conditions of timing
  std::vector<std::string> threads;       ///< Short for --option threads=…
  std::vector<std::string> input_shapes;  ///< "1,3,224,224" or "2,5:int64", one per input
  std::string args;  ///< Arguments of the model's factory, a JSON object; may be empty.
  std::vector<std::string> require;  ///< metric>=bound
  std::uint64_t seed = 0;
  int samples = 4;
  std::vector<std::string> against;     ///< Empty: float32 and qdq, or file for a program.
  std::string inputs;                   ///< A file or folder of inputs, or "model".
  std::string expected;                 ///< A file of the outputs that are expected for them.
  std::vector<std::string> dimensions;  ///< name=size[,size]
  bool has_parity = false;
  int launches = 3;
  std::string interval;           ///< "1%": launches until it is so narrow.
  std::string warmup = "auto";    ///< Or a number.
  std::string iterations = "50";  ///< Or "auto".
  std::string time_budget = "20s";
  const CLI::Option* threads_option = nullptr;  ///< Tells given threads from configured ones.

  void declare_model(CLI::App& app);
  void declare_gates(CLI::App& app);
  void declare_timing(CLI::App& app);
  /// The part of it that concerns one launch.
  void declare_iterations(CLI::App& app);
  void declare_evaluation(CLI::App& app);
  /// The part of it that says on how much.
  void declare_samples(CLI::App& app);

  /// Makes the spec document of the flags, with these passes; without a model it describes settings
  /// only (SpecContext::has_models). Errors: kInvalidArgument for a malformed flag.
  [[nodiscard]] Result<Json> document(const std::vector<std::string>& passes) const;

 private:
  Status add_given(Json& entry) const;
  [[nodiscard]] Json evaluation(bool is_program) const;
  /// False: they are configured, and --option gives others.
  [[nodiscard]] bool are_threads_wanted() const;
};

}  // namespace assay::cli
