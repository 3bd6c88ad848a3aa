#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/record/launch.h"

namespace assay {

/// A part of one inference: an operator, or what no operator accounts for.
struct ProfilePart {
  std::string name;      ///< "convolution.out", "Convolution (NHWC, F32) IGEMM #1"
  std::string kind;      ///< As ProfileEvent's; "rest" for what no operator accounts for.
  std::string family;    ///< Kind of work: "convolution", "copy", …; "rest".
  std::string delegate;  ///< Delegate that it runs in; empty: none.
  int instruction = -1;
  int position = -1;   ///< Position in the engine's order of execution; -1: no operator.
  double calls = 0;    ///< Per inference.
  double time_ns = 0;  ///< Per inference: median of a call, times calls.
  double mean_ns = 0;  ///< Per inference.
  double min_ns = 0;   ///< Fastest call.
  double share_ratio = 0;
};

/// Parts that have something in common, added up.
struct ProfileGroup {
  std::string name;
  double calls = 0;  ///< Per inference.
  double time_ns = 0;
  double share_ratio = 0;
};

/// Where the time of an inference goes, from the profile pass of one case. `parts` add up to
/// `method_ns`: what the operators leave of it is a part of its own.
struct ProfileBreakdown {
  std::string label;
  double method_ns = 0;
  int iterations = 0;
  std::vector<ProfilePart> parts;  ///< Longest first.
  std::vector<ProfileGroup> families;
  std::vector<ProfileGroup> places;  ///< Each delegate, operators outside of them, the rest.
  double outside_ns = 0;             ///< Method less its operators and delegates.
  double execute_ns = 0;             ///< Median of a profiled inference.
  std::optional<double> timed_ns;    ///< steady_ns of the timing pass.
  int timed_launches = 0;
  std::optional<double> slowdown_ratio;  ///< execute_ns / timed_ns
  double method_floor_ns = 0;            ///< Smallest method of the profile pass.
  std::optional<double> timed_floor_ns;  ///< steady_floor_ns
  /// method_floor_ns / timed_floor_ns: on a busy machine the steadier of the two.
  std::optional<double> floor_slowdown_ratio;
  int counted_iterations = 0;
  std::vector<EventCount> counters;
  std::vector<std::string> notes;
};

/// One thing in A against the same in B.
struct DifferenceRow {
  std::string name;
  std::optional<double> a_ns;  ///< Absent: only B has it.
  std::optional<double> b_ns;
  double difference_ns = 0;  ///< B less A.
  double share_ratio = 0;    ///< Share of the whole difference; negative: in the other direction.
  double cumulative_ratio = 0;  ///< Share of this row and those before it.
  double a_calls = 0;
  double b_calls = 0;
};

/// An operator of the graph whose place changed.
struct OperatorChange {
  std::string name;  ///< "aten.add.Tensor"
  int a_delegated = 0;
  int b_delegated = 0;
  int a_left = 0;
  int b_left = 0;
  std::optional<double> outside_ns;  ///< B less A, what it takes outside of delegates.
  std::string reason;                ///< Why it is left, where a partitioner said so.
  std::string text;
};

/// Which operators account for the difference of A and B. Explains, and decides nothing.
struct ProfileDifference {
  std::string a_label;
  std::string b_label;
  double a_ns = 0;  ///< Method of the profile pass.
  double b_ns = 0;
  double difference_ns = 0;
  std::optional<double> a_timed_ns;  ///< Time from the timing pass.
  std::optional<double> b_timed_ns;
  std::vector<DifferenceRow> parts;  ///< Largest difference first; they add up to the whole.
  std::vector<DifferenceRow> families;
  std::vector<DifferenceRow> places;
  std::vector<OperatorChange> delegation;
  std::vector<std::string> notes;
};

/// A layer with weights, in each of several cases.
struct LayerRow {
  std::vector<std::string> names;
  std::vector<double> time_ns;
};

/// The convolutions and matrix products of one model in several cases, side by side in the order of
/// execution.
struct ProfileLayers {
  std::vector<std::string> labels;  ///< The first is the one that the others are compared with.
  std::vector<LayerRow> rows;
  std::vector<double> sum_ns;          ///< Sum of each case.
  int fastest_count = 0;               ///< Layers in which none is faster than the first case.
  double fastest_other_ratio = 0;      ///< Geometric mean of the fastest other over the first.
  double sum_fastest_other_ratio = 0;  ///< Smallest sum of another case over the first's.
  std::vector<std::string> notes;      ///< Cases that are not compared, and why.
};

/// Instructions of one function, its own without what it calls.
struct FunctionCost {
  std::string name;
  double instructions = 0;  ///< Per inference.
};

/// Instructions counted by callgrind in two runs of different length, so that load, start and end
/// cancel out.
struct InstructionReport {
  std::string unavailable;  ///< Why there is no count, and what to do; empty: there is one.
  std::string tool;         ///< "valgrind-3.19.0"
  int few = 0;              ///< Inferences of the short run, and of the long one.
  int many = 0;
  std::int64_t few_instructions = 0;
  std::int64_t many_instructions = 0;
  double instructions_per_inference = 0;
  std::vector<FunctionCost> functions;  ///< Most first, the first hundred.
  std::vector<std::string> notes;
};

ASSAY_DECLARE_JSON(ProfilePart);
ASSAY_DECLARE_JSON(ProfileGroup);
ASSAY_DECLARE_JSON(ProfileBreakdown);
ASSAY_DECLARE_JSON(DifferenceRow);
ASSAY_DECLARE_JSON(OperatorChange);
ASSAY_DECLARE_JSON(ProfileDifference);
ASSAY_DECLARE_JSON(LayerRow);
ASSAY_DECLARE_JSON(ProfileLayers);
ASSAY_DECLARE_JSON(FunctionCost);
ASSAY_DECLARE_JSON(InstructionReport);

}  // namespace assay
