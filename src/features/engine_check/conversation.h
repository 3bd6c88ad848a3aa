#pragma once

#include "features/engine_check/engine_check.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/launch.h"
#include "assay/supervise/agent_client.h"
#include "assay/tensor/tensor.h"
#include "assay/wire/answer_body.h"
#include "assay/wire/answer_check.h"
#include "assay/wire/frame.h"
#include "assay/wire/messages.h"

namespace assay {

/// Answers of a runner, in order of the questions, and how it ended.
struct Conversation {
  std::vector<wire::Frame> answers;  ///< One answer for each question, unless the runner died.
  std::string death;                 ///< Why it ended too early; empty: it did not.
  std::int64_t wall_ns = 0;          ///< Its lifetime.

  /// The answer to a question, or the error that it was. Errors: kCrashed when there is none.
  [[nodiscard]] Result<wire::Frame> answer(std::size_t question) const;

  template <class Body>
  [[nodiscard]] Result<Body> body(std::size_t question) const {
    ASSAY_ASSIGN_OR_RETURN(const auto frame, answer(question));
    ASSAY_ASSIGN_OR_RETURN(auto body, wire::body_from_answer<Body>(frame));
    if constexpr (std::is_same_v<Body, LoadReport>) {
      ASSAY_RETURN_IF_ERROR(wire::check_load_report(body, wall_ns));
    }
    return body;
  }
};

/// Starts runners of one engine and talks with them.
class Interviewer {
 public:
  Interviewer(AgentClient& agent, const EngineCheckRequest& request)
      : agent_(agent), request_(request) {}

  /// One process: hello, the questions, bye. Errors: those of the agent.
  Result<Conversation> ask(std::vector<wire::Frame> questions,
                           const std::map<std::string, std::string>& env = {});

  [[nodiscard]] const EngineCheckRequest& request() const { return request_; }
  /// Frame that loads the program, with options on top of the request's.
  [[nodiscard]] wire::Frame load_frame(const Json& more_options = Json::object()) const;

 private:
  [[nodiscard]] std::string path_there(const std::filesystem::path& file) const;

  AgentClient& agent_;
  const EngineCheckRequest& request_;
};

/// One inference of made-up inputs, `repeat` times.
wire::Frame infer_frame(int repeat = 1);

/// One inference of these inputs.
wire::Frame infer_frame(const std::vector<Tensor>& inputs);

/// A timing pass of made-up inputs.
wire::Frame measure_frame(const MeasurePlan& plan);

}  // namespace assay
