#include "assay/evaluate/evaluate.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/evaluate/controls.h"
#include "assay/evaluate/error_bounds.h"
#include "assay/evaluate/output_types.h"
#include "assay/evaluate/output_values.h"
#include "assay/evaluate/ties.h"
#include "assay/evaluate/tolerance.h"
#include "assay/record/axes.h"
#include "assay/record/metric.h"
#include "assay/record/summary.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

using Measured = std::map<std::string, double>;

constexpr std::string_view kOtherSample = "other_sample";
constexpr std::string_view kBoundRatio = "error_bound_ratio";

/// A control put in the place of one output, and what came of it.
struct Trial {
  std::string name;
  bool is_mandatory = false;
  bool is_excused = false;
  std::string why_absent;  ///< Empty: it was tried.
  std::vector<std::string> broken;
};

struct JudgedOutput {
  std::string name;
  Measured metrics;
  Measured bounds;  ///< Limits that the metrics were compared with.
  std::vector<std::string> held;
  std::vector<std::string> broken;
  bool is_inseparable = false;  ///< The bounds hold, the separation does not.
  std::string separation;
  std::vector<std::string> ties;     ///< Indices that are right in another order.
  std::vector<std::string> widened;  ///< Bounds that the network's sensitivity made wider.
  std::vector<Trial> trials;
};

/// The SQNR that the separation asks for; absent when it asks for nothing.
std::optional<double> separation_limit(const Tolerance& tolerance, const Measured* other_sample) {
  // If NaN are at other places, there is no number to compare with.
  const bool is_asked = tolerance.separation_db && other_sample != nullptr &&
                        !std::isnan(other_sample->at("sqnr_db"));
  return is_asked ? std::optional(other_sample->at("sqnr_db") + *tolerance.separation_db)
                  : std::nullopt;
}

void apply_bounds(const Tolerance& tolerance, const Measured& metrics,
                  std::vector<std::string>& held, std::vector<std::string>& broken) {
  for (const auto& [name, limit] : tolerance.bounds) {
    if (const auto found = metrics.find(name); found != metrics.end()) {
      const bool is_held = is_bound_held(name, found->second, limit);
      (is_held ? held : broken).push_back(text_of_bound(name, found->second, limit));
    }
  }
}

Trial try_control(const Control& control, const Tolerance& tolerance,
                  std::optional<double> separation, const Measured& metrics) {
  Trial trial{.name = control.name, .is_mandatory = control.is_mandatory};
  std::vector<std::string> held;
  apply_bounds(tolerance, metrics, held, trial.broken);
  const double sqnr = metrics.at("sqnr_db");
  if (trial.broken.empty() && separation && !(sqnr >= *separation)) {
    trial.broken.push_back(
        fmt::format("sqnr_db {:.4g} (>= {:.4g} for the separation)", sqnr, *separation));
  }
  return trial;
}

void judge_separation(const Tolerance& tolerance, std::optional<double> limit, JudgedOutput& out) {
  if (!limit || !tolerance.separation_db) {
    return;
  }
  const double sqnr = out.metrics.at("sqnr_db");
  out.is_inseparable = !(sqnr >= *limit);
  out.separation =
      fmt::format("sqnr_db {:.4g}, another sample's output {:.4g}, {:g} dB apart required", sqnr,
                  *limit - *tolerance.separation_db, *tolerance.separation_db);
}

JudgedOutput judge_output(const OutputValues& values, const Tolerance& tolerance) {
  JudgedOutput out{.name = values.name, .metrics = measure_output(values)};
  apply_bounds(tolerance, out.metrics, out.held, out.broken);
  for (const auto& [name, limit] : tolerance.bounds) {
    if (out.metrics.contains(name)) {
      out.bounds[name] = limit;
    }
  }
  if (!values.bounds.empty() && !out.broken.empty()) {
    out.broken.push_back(describe_worst_element(values));
  }
  const auto controls = make_controls(values);
  std::map<std::string, Measured> measured;
  for (const auto& control : controls) {
    if (control.candidate) {
      measured[control.name] = measure_control(values, *control.candidate);
    }
  }
  const auto other = measured.find(std::string(kOtherSample));
  const auto limit =
      separation_limit(tolerance, other == measured.end() ? nullptr : &other->second);
  judge_separation(tolerance, limit, out);
  for (const auto& control : controls) {
    out.trials.push_back(control.candidate
                             ? try_control(control, tolerance, limit, measured.at(control.name))
                             : Trial{.name = control.name,
                                     .is_mandatory = control.is_mandatory,
                                     .is_excused = control.is_excused,
                                     .why_absent = control.why_absent,
                                     .broken = {}});
  }
  return out;
}

/// One control over all outputs.
struct ControlVerdict {
  std::string line;
  std::string unproven;  ///< The outputs about which it leaves the check without proof; or empty.
};

/// Outputs by what came of one control.
struct Tried {
  std::vector<std::string> passing;
  std::vector<std::string> absent;  ///< With the reason.
  std::vector<std::string> unproven;
  std::string failing;  ///< The first one that was rejected, and why.
};

/// "all_zeros", put in the place of each output.
Tried try_on_each(const std::vector<JudgedOutput>& outputs, std::size_t which) {
  Tried tried;
  for (const auto& output : outputs) {
    const auto& trial = output.trials[which];
    if (!trial.why_absent.empty()) {
      const bool is_alone = outputs.size() == 1;
      tried.absent.push_back(is_alone
                                 ? trial.why_absent
                                 : fmt::format("output {}: {}", output.name, trial.why_absent));
    } else if (trial.broken.empty()) {
      tried.passing.push_back(output.name);
    } else if (tried.failing.empty()) {
      tried.failing = fmt::format("output {}: {}", output.name, trial.broken.front());
    }
    const bool is_excused = !trial.why_absent.empty() ? trial.is_excused : !trial.broken.empty();
    if (trial.is_mandatory && !is_excused) {
      tried.unproven.push_back(output.name);
    }
  }
  return tried;
}

ControlVerdict judge_control(const std::vector<JudgedOutput>& outputs, std::size_t which) {
  const auto& trial = outputs.front().trials[which];
  const auto tried = try_on_each(outputs, which);
  std::vector<std::string> parts;
  if (!tried.passing.empty()) {
    parts.push_back(fmt::format(
        "accepted for output {}{}", fmt::join(tried.passing, ", "),
        trial.is_mandatory ? ", though it must be rejected" : "; this control decides nothing"));
  } else if (!tried.failing.empty()) {
    parts.push_back(
        fmt::format("rejected{} ({})", trial.is_mandatory ? ", as it must be" : "", tried.failing));
  }
  if (!tried.absent.empty()) {
    parts.push_back(fmt::format("not applicable, {}", fmt::join(tried.absent, ", ")));
  }
  return {fmt::format("{}: {}", trial.name, fmt::join(parts, "; ")),
          fmt::format("{}", fmt::join(tried.unproven, ", "))};
}

/// Names what the controls leave unproven: "output 1: all_zeros: not applicable, …".
std::string doubt_from(const ControlVerdict& control, const std::vector<JudgedOutput>& outputs) {
  return outputs.size() == 1 ? control.line
                             : fmt::format("output {}: {}", control.unproven, control.line);
}

std::string joined_with_names(const std::vector<JudgedOutput>& outputs,
                              std::vector<std::string> JudgedOutput::* list) {
  std::vector<std::string> parts;
  for (const auto& output : outputs) {
    if (!(output.*list).empty()) {
      parts.push_back(fmt::format("output {}: {}", output.name, fmt::join(output.*list, ", ")));
    }
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

/// Metrics that are bounded, and that no output has.
std::string unmeasured_bounds(const std::vector<JudgedOutput>& outputs,
                              const std::vector<Tolerance>& tolerances) {
  std::set<std::string> missing;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (const auto& [name, limit] : tolerances[i].bounds) {
      const bool is_measured = std::ranges::any_of(
          outputs, [&name](const JudgedOutput& output) { return output.metrics.contains(name); });
      if (!is_measured) {
        missing.insert(text_of_bound(name, std::nullopt, limit));
      }
    }
  }
  return fmt::format("{}", fmt::join(missing, ", "));
}

/// The numeric verdict and its reason, before nondeterminism is looked at.
void decide_numeric(const std::vector<JudgedOutput>& outputs, const std::string& unmeasured,
                    const std::string& vacuous_control, AccuracyTable& table) {
  const auto broken = joined_with_names(outputs, &JudgedOutput::broken);
  const auto inseparable = std::ranges::find_if(outputs, &JudgedOutput::is_inseparable);
  if (!broken.empty() || !unmeasured.empty()) {
    table.accuracy = Accuracy::kFailNumeric;
    table.reason = broken.empty() ? unmeasured : broken;
  } else if (!vacuous_control.empty()) {
    table.accuracy = Accuracy::kVacuous;
    table.reason =
        (outputs.size() == 1 ? "the check proves nothing: " : "the check proves nothing about ") +
        vacuous_control;
  } else if (inseparable != outputs.end()) {
    table.accuracy = Accuracy::kVacuous;
    table.reason =
        fmt::format("output {} is not distinguishable from the output for another input: {}",
                    inseparable->name, inseparable->separation);
  } else {
    table.accuracy = Accuracy::kPass;
    table.reason = "every bound holds: " + joined_with_names(outputs, &JudgedOutput::held);
  }
}

constexpr std::string_view kDifferBetweenExecutions =
    "elements differ between executions on the same input";

/// "; random by design: aten.rand_like.default"; empty if nothing is.
std::string text_of_random(const std::vector<std::string>& operators) {
  return operators.empty() ? "" : fmt::format("; random by design: {}", fmt::join(operators, ", "));
}

void apply_nondeterminism(const Evaluation& evaluation, bool is_allowed, AccuracyTable& table) {
  const auto random = text_of_random(evaluation.random_operators);
  table.differing_elements = static_cast<std::int64_t>(evaluation.differing_elements);
  if (evaluation.differing_elements == 0) {
    // The reference draws numbers of its own.
    table.reason += table.accuracy == Accuracy::kFailNumeric ? random : "";
    return;
  }
  const auto text =
      fmt::format("{} {}{}", evaluation.differing_elements, kDifferBetweenExecutions, random);
  if (is_allowed) {
    table.reason += fmt::format("; {}, which the tolerance allows", text);
    return;
  }
  table.reason = table.accuracy == Accuracy::kFailNumeric ? text + "; " + table.reason : text;
  table.accuracy = Accuracy::kFailNondeterministic;
}

OutputError output_error_of(const JudgedOutput& output) {
  OutputError error{.output = output.name, .metrics = {}, .bounds = output.bounds};
  for (const auto& [name, value] : output.metrics) {
    error.metrics[name] = make_metric(name, value, "output:" + output.name);
  }
  return error;
}

std::string text_of_unused_labels(std::span<const std::int64_t> labels) {
  const auto [least, most] = std::ranges::minmax(labels);
  return fmt::format(
      "; no accuracy: no output has a row of class scores for each of the {} labels ({} to {})",
      labels.size(), least, most);
}

AccuracyTable unjudged(const Evaluation& evaluation, Accuracy accuracy, std::string reason) {
  return {.against = evaluation.against,
          .accuracy = accuracy,
          .reason = std::move(reason),
          .differing_elements = static_cast<std::int64_t>(evaluation.differing_elements)};
}

/// Bounds of an element's own leave no room for others.
Tolerance by_error_bounds(const Tolerance& chosen) {
  const auto asked = chosen.bounds.find(std::string(kBoundRatio));
  const double limit = asked == chosen.bounds.end() ? 1.0 : asked->second;
  return {.bounds = {{std::string(kBoundRatio), limit}},
          .allows_nondeterminism = chosen.allows_nondeterminism,
          .computes_in = chosen.computes_in,
          .why = chosen.why};
}

/// The outputs in question, clipped to those that are there.
OutputRange range_of(const Evaluation& evaluation) {
  const auto outputs = evaluation.references.empty() ? 0 : evaluation.references.front().size();
  const auto range = evaluation.range.value_or(OutputRange{.begin = 0, .end = outputs});
  return {.begin = std::min(range.begin, outputs), .end = std::min(range.end, outputs)};
}

bool has_elements(const Evaluation& evaluation, OutputRange range) {
  return std::ranges::any_of(evaluation.references, [range](const std::vector<Tensor>& sample) {
    const auto outputs = std::span(sample).subspan(range.begin, range.end - range.begin);
    return std::ranges::any_of(
        outputs, [](const Tensor& output) { return count_elements(output.shape) > 0; });
  });
}

const TensorSpec* spec_of(const Evaluation& evaluation, std::size_t output) {
  return output < evaluation.outputs.size() ? &evaluation.outputs[output] : nullptr;
}

/// True if the reference or the tolerance says that the output is the same for every input.
bool is_constant_output(const Evaluation& evaluation, const ToleranceSet& tolerances,
                        std::size_t output, const std::string& name) {
  const auto& known = evaluation.constant_outputs;
  const auto& given = tolerances.constant_outputs;
  return std::ranges::find(known, output) != known.end() ||
         std::ranges::find(given, name) != given.end() ||
         std::ranges::find(given, fmt::format("{}", output)) != given.end();
}

/// One input over all samples, if it has the output's shape in each.
std::optional<std::vector<double>> find_input(const Evaluation& evaluation, std::size_t index,
                                              const OutputValues& values) {
  std::vector<double> joined;
  for (std::size_t sample = 0; sample < values.samples(); ++sample) {
    const auto& inputs = evaluation.inputs[sample];
    if (index >= inputs.size() || inputs[index].shape != values.shapes[sample]) {
      return std::nullopt;
    }
    const auto numbers = doubles_from_tensor(inputs[index].view());
    joined.insert(joined.end(), numbers.begin(), numbers.end());
  }
  return joined;
}

/// Puts the inputs that could be taken for the output next to it, where error bounds can tell.
void add_inputs(const Evaluation& evaluation, OutputValues& values) {
  values.has_inputs = !evaluation.bounds.empty() && !evaluation.inputs.empty() &&
                      evaluation.inputs.size() >= values.samples();
  if (!values.has_inputs) {
    return;
  }
  const OutputRange all{.begin = 0, .end = evaluation.inputs.front().size()};
  const auto range = evaluation.input_range.value_or(all);
  for (auto i = range.begin; i < range.end; ++i) {
    if (auto input = find_input(evaluation, i, values)) {
      values.inputs.push_back(*std::move(input));
    }
  }
}

Result<OutputValues> values_of(const Evaluation& evaluation, OutputRange range,
                               const ToleranceSet& tolerances, std::size_t output) {
  ASSAY_ASSIGN_OR_RETURN(auto values, gather_output(evaluation.results, evaluation.references,
                                                    output, spec_of(evaluation, output)));
  if (evaluation.range) {
    values.name = fmt::format("{}", output - range.begin);
  }
  values.is_constant = is_constant_output(evaluation, tolerances, output, values.name);
  values.is_copy =
      std::ranges::find(evaluation.copied_outputs, output) != evaluation.copied_outputs.end();
  add_inputs(evaluation, values);
  return values;
}

/// The type whose tolerance applies: the more precise one where the reference may have another.
Dtype judged_type(const Evaluation& evaluation, std::size_t output, const OutputValues& values) {
  const auto reference = evaluation.references.front()[output].dtype;
  const bool is_wider = evaluation.types.is_any_width && is_floating(reference) &&
                        size_of_dtype(reference) > size_of_dtype(values.dtype);
  return is_wider ? reference : values.dtype;
}

/// Every output's verdict and the tolerance that it was compared with.
struct JudgedOutputs {
  std::vector<JudgedOutput> outputs;
  std::vector<Tolerance> applied;
  std::string misfit;  ///< Why a quantization or error bounds cannot be used; empty: they can.
  bool is_labelled = false;  ///< The labels belong to one of the outputs.
};

/// Puts the error bounds of an output into `values` and returns the tolerance that they make.
Result<Tolerance> tolerance_by_bounds(const Evaluation& evaluation, std::size_t output,
                                      const Tolerance& chosen, OutputValues& values) {
  ASSAY_RETURN_IF_ERROR(gather_bounds(evaluation.bounds, output, values));
  if (chosen.computes_in) {
    widen_bounds(*chosen.computes_in, values);
  }
  return by_error_bounds(chosen);
}

/// The texts on what makes an output right that plain bounds would refuse.
void note_leniency(std::size_t ties, std::vector<std::string> widened, JudgedOutput& judged) {
  judged.widened = std::move(widened);
  if (ties > 0) {
    judged.ties.push_back(fmt::format("{} indices", ties));
  }
}

JudgedOutputs judge_each(const Evaluation& evaluation, OutputRange range,
                         const ToleranceSet& tolerances) {
  JudgedOutputs judged;
  std::optional<OutputValues> before;
  for (auto i = range.begin; i < range.end; ++i) {
    auto gathered = values_of(evaluation, range, tolerances, i);
    if (!gathered) {
      judged.misfit = fmt::format("output {}: {}", i - range.begin, gathered.error().message);
      return judged;
    }
    auto& values = *gathered;
    auto tolerance = tolerances.for_output(judged_type(evaluation, i, values), values.is_quantized);
    std::vector<std::string> widened;
    std::size_t ties = 0;
    if (!evaluation.bounds.empty()) {
      auto bounded = tolerance_by_bounds(evaluation, i, tolerance, values);
      if (!bounded) {
        judged.misfit = bounded.error().message;
        return judged;
      }
      tolerance = *std::move(bounded);
    } else {
      ties = before ? settle_ties(*before, values) : 0;
      widened = i < evaluation.sensitivity.size()
                    ? widen_by_sensitivity(evaluation.sensitivity[i], tolerance)
                    : widened;
    }
    judged.outputs.push_back(judge_output(values, tolerance));
    note_leniency(ties, std::move(widened), judged.outputs.back());
    judged.applied.push_back(std::move(tolerance));
    judged.is_labelled = judged.is_labelled || add_label_metrics(values, evaluation.labels,
                                                                 judged.outputs.back().metrics);
    before = std::move(values);
  }
  return judged;
}

}  // namespace

bool differs_between_executions(const AccuracyTable& table) {
  return table.differing_elements > 0 || table.accuracy == Accuracy::kFailNondeterministic;
}

Result<AccuracyTable> evaluate_outputs(const Evaluation& evaluation,
                                       const ToleranceSet& tolerances) {
  const auto range = range_of(evaluation);
  if (auto difference = find_shape_difference(evaluation.results, evaluation.references, range)) {
    return unjudged(evaluation, Accuracy::kFailNumeric, *std::move(difference));
  }
  if (range.begin == range.end) {
    return unjudged(evaluation, Accuracy::kNotChecked,
                    "there is no sample or no output to compare");
  }
  if (auto difference = find_type_difference(evaluation.results, evaluation.references, range,
                                             evaluation.types, evaluation.outputs)) {
    return unjudged(evaluation, Accuracy::kFailNumeric, *std::move(difference));
  }
  if (!has_elements(evaluation, range)) {
    auto table = unjudged(evaluation, Accuracy::kPass,
                          "the outputs have no elements; their number, shapes and types are right");
    const bool is_allowed = tolerances.floating.allows_nondeterminism;
    apply_nondeterminism(evaluation, is_allowed, table);
    return table;
  }
  const auto judged = judge_each(evaluation, range, tolerances);
  if (!judged.misfit.empty()) {
    return unjudged(evaluation, Accuracy::kNotChecked, judged.misfit);
  }
  const auto& outputs = judged.outputs;
  AccuracyTable table{.against = evaluation.against};
  std::string vacuous_control;
  for (std::size_t which = 0; which < outputs.front().trials.size(); ++which) {
    const auto verdict = judge_control(outputs, which);
    table.controls.push_back(verdict.line);
    if (vacuous_control.empty() && !verdict.unproven.empty()) {
      vacuous_control = doubt_from(verdict, outputs);
    }
  }
  std::ranges::transform(outputs, std::back_inserter(table.outputs), output_error_of);
  decide_numeric(outputs, unmeasured_bounds(outputs, judged.applied), vacuous_control, table);
  if (const auto ties = joined_with_names(outputs, &JudgedOutput::ties); !ties.empty()) {
    table.reason += fmt::format("; in another order of ties, {}", ties);
  }
  if (const auto widened = joined_with_names(outputs, &JudgedOutput::widened); !widened.empty()) {
    table.reason += fmt::format("; bounds wider for this network: {}", widened);
  }
  if (!evaluation.labels.empty() && !judged.is_labelled) {
    table.reason += text_of_unused_labels(evaluation.labels);
  }
  const bool is_allowed =
      std::ranges::all_of(judged.applied, [](const auto& t) { return t.allows_nondeterminism; });
  apply_nondeterminism(evaluation, is_allowed, table);
  return table;
}

}  // namespace assay
