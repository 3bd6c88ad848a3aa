#include "features/engine_check/engine_check.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/base/units.h"
#include "assay/campaign/option_check.h"
#include "assay/campaign/remote_device.h"
#include "assay/cli/device_flag.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/verb.h"
#include "assay/device/local_transport.h"
#include "assay/engine/installed_builds.h"
#include "assay/remote/device_choice.h"
#include "assay/supervise/agent_client.h"

namespace assay::cli {
namespace {

constexpr const char* kEngineCheckSchema = "assay/engine-check/1";

struct EngineCheckOptions {
  std::string engine;
  std::string program;
  std::vector<std::string> data;
  std::string options = "{}";
  std::vector<std::string> only;
  int loads = 1000;
  std::string loads_budget = "2min";
  std::string format = "console";
  std::string device;
};

void print_finding(const CheckFinding& finding) {
  print_out("{:<8} {:<26} {}\n", name_of(finding.verdict), finding.check, finding.text);
}

ExitCode exit_code_from_findings(const std::vector<CheckFinding>& findings) {
  const auto has_failed = std::ranges::any_of(
      findings, [](const CheckFinding& one) { return one.verdict == CheckVerdict::kFail; });
  return has_failed ? ExitCode::kFindings : ExitCode::kOk;
}

Result<EngineCheckRequest> engine_check_request(const EngineCheckOptions& options) {
  EngineCheckRequest request{.entry = std::filesystem::absolute(options.program),
                             .only = options.only,
                             .loads = options.loads};
  if (!std::filesystem::exists(request.entry)) {
    return fail(ErrorCode::kNotFound, fmt::format("no program '{}'", options.program));
  }
  for (const auto& path : options.data) {
    request.data.push_back(std::filesystem::absolute(path));
  }
  ASSAY_ASSIGN_OR_RETURN(request.leak_budget_ns, duration_ns_from_text(options.loads_budget));
  ASSAY_ASSIGN_OR_RETURN(request.options, parse_json(options.options, "--options"));
  return request;
}

/// Whom to ask, and who answers.
struct Interview {
  std::unique_ptr<RemoteDevice> device;  ///< Null: this machine.
  std::optional<AgentClient> own_agent;
  AgentClient* agent = nullptr;
};

Result<Interview> interview_here(const EngineCheckOptions& options, EngineCheckRequest& request) {
  ASSAY_ASSIGN_OR_RETURN(request.build,
                         get_build(find_installed_builds(assay_home()), options.engine));
  LocalTransport transport;
  Interview interview;
  ASSAY_ASSIGN_OR_RETURN(interview.own_agent, AgentClient::connect(transport));
  return interview;
}

/// Brings the runner and the program there.
Result<Interview> interview_there(const EngineCheckOptions& options, EngineCheckRequest& request) {
  Interview interview;
  ASSAY_ASSIGN_OR_RETURN(interview.device, open_remote_device(options.device));
  auto& device = *interview.device;
  ASSAY_ASSIGN_OR_RETURN(request.build, get_build(device.installed(), options.engine));
  ASSAY_ASSIGN_OR_RETURN(request.argv, device.bring_runner(options.engine));
  std::vector<std::filesystem::path> files = {request.entry};
  files.insert(files.end(), request.data.begin(), request.data.end());
  ASSAY_ASSIGN_OR_RETURN(const std::filesystem::path folder, device.bring_files(files));
  request.place = folder;
  ASSAY_ASSIGN_OR_RETURN(interview.agent, device.agent());
  return interview;
}

Result<ExitCode> execute_engine_check(const EngineCheckOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(auto request, engine_check_request(options));
  const bool is_here = options.device.empty() || options.device == kLocalDevice;
  ASSAY_ASSIGN_OR_RETURN(auto interview, is_here ? interview_here(options, request)
                                                 : interview_there(options, request));
  ASSAY_RETURN_IF_ERROR(check_engine_options(request.options, request.build));
  auto& agent = interview.own_agent ? *interview.own_agent : *interview.agent;
  const bool is_json = options.format == "json";
  ASSAY_ASSIGN_OR_RETURN(const auto findings,
                         check_engine(agent, request, is_json ? nullptr : print_finding));
  if (is_json) {
    const Json document{{"schema", kEngineCheckSchema},
                        {"engine", request.build.reference()},
                        {"findings", findings}};
    print_json(document, 2);
  }
  return exit_code_from_findings(findings);
}

}  // namespace

Execute declare_engine_check(CLI::App& app) {
  auto options = std::make_shared<EngineCheckOptions>();
  auto* check = app.add_subcommand("check", "Check that an engine meets the engine contract");
  check->add_option("engine", options->engine, "Installed engine, such as onnxruntime or mine@1")
      ->required();
  check->add_option("--program", options->program, "Program that the engine loads")->required();
  check->add_option("--data", options->data, "Data file of the program");
  check->add_option("--options", options->options,
                    "Engine options as a JSON object, such as '{\"threads\": 1}'");
  check
      ->add_option("--check", options->only,
                   "Only these checks, by their names in the findings [default: all]")
      ->delimiter(',');
  check
      ->add_option("--loads", options->loads,
                   "Number of load and unload cycles of the leak check; 0 skips it")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  check
      ->add_option("--loads-budget", options->loads_budget,
                   "Time limit for these cycles, such as 10min")
      ->capture_default_str();
  check->add_option("--format", options->format, "Format of the findings: console or json")
      ->capture_default_str()
      ->check(CLI::IsMember({"console", "json"}));
  declare_device_name(*check, options->device);
  return [options] { return execute_engine_check(*options); };
}

}  // namespace assay::cli
