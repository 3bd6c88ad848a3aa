#pragma once

#include <cstdint>
#include <filesystem>

#include "assay/base/result.h"
#include "assay/supervise/agent_storage.h"
#include "assay/supervise/spawn.h"
#include "assay/wire/channel.h"
#include "assay/wire/frame.h"

namespace assay {

/// The far end on a device: runs processes and keeps blobs for a host. Messages:
///   hello Hello -> Hello · conditions -> Conditions · environment -> Environment · bye -> bye
///   has {sha256} -> {has, path} · put Put + blob -> PutReply · tree Tree -> TreeReply
///   spawn SpawnRequest + blob (stdin) -> SpawnResult + blob (stdout)
/// Whatever else is answered with an error. One request at a time.
class Agent {
 public:
  /// `home`: its folder for all that it keeps, see agent_home().
  Agent(std::filesystem::path home, const SpawnCancel& cancel)
      : storage_(std::move(home)), cancel_(cancel) {}

  /// The answer to one request; never fails, an error is an answer too.
  wire::Frame answer(wire::Frame request);

 private:
  using Handler = Result<wire::Frame> (Agent::*)(wire::Frame& request);

  Result<wire::Frame> dispatch(wire::Frame& request);
  Result<wire::Frame> greet(wire::Frame& request);
  Result<wire::Frame> has(wire::Frame& request);
  Result<wire::Frame> put(wire::Frame& request);
  Result<wire::Frame> tree(wire::Frame& request);
  Result<wire::Frame> spawn(wire::Frame& request);
  Result<wire::Frame> conditions(wire::Frame& request);
  Result<wire::Frame> environment(wire::Frame& request);
  Result<wire::Frame> bye(wire::Frame& request);

  AgentStorage storage_;
  SpawnCancel cancel_;
};

enum class AgentEnd : std::uint8_t {
  kBye,      ///< Bye, or the end of the stream: all well.
  kSignal,   ///< Told to stop.
  kCorrupt,  ///< The input was no frame; it was answered with an error of request 0.
};

/// Answers requests until bye, the end of the stream, or data on cancel.readable_fd.
AgentEnd serve_agent(int read_fd, int write_fd, const SpawnCancel& cancel);

}  // namespace assay
