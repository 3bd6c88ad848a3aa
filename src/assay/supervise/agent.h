#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "assay/base/result.h"
#include "assay/supervise/agent_storage.h"
#include "assay/supervise/held_device.h"
#include "assay/supervise/held_settings.h"
#include "assay/supervise/spawn.h"
#include "assay/wire/frame.h"

namespace assay {

/// The far end on a device: runs processes and keeps blobs for a host. Messages:
///   hello Hello -> Hello · conditions -> Conditions · environment -> Environment · bye -> bye
///   has {sha256} -> {has, path} · put Put + blob -> PutReply · tree Tree -> TreeReply
///   lock Lock -> LockReply · policy Policy -> PolicyReply · space -> Space · prune Prune ->
///   PruneReply spawn SpawnRequest + blob (stdin) -> SpawnResult + blob (stdout)
/// Whatever else is answered with an error. One request at a time.
class Agent {
 public:
  /// `home`: its folder for all that it keeps, see agent_home().
  Agent(std::filesystem::path home, const SpawnCancel& cancel)
      : storage_(std::move(home)), settings_(storage_.home()), cancel_(cancel) {}

  /// The answer to one request; never fails, an error is an answer too.
  wire::Frame answer(wire::Frame request);

  /// Period of signs of life that the host wants while a request is answered; 0: none.
  [[nodiscard]] std::int64_t heartbeat_ns() const { return heartbeat_ns_; }

 private:
  using Handler = Result<wire::Frame> (Agent::*)(wire::Frame& request);

  Result<wire::Frame> dispatch(wire::Frame& request);
  Result<wire::Frame> greet(wire::Frame& request);
  Result<wire::Frame> has(wire::Frame& request);
  Result<wire::Frame> put(wire::Frame& request);
  Result<wire::Frame> tree(wire::Frame& request);
  Result<wire::Frame> lock(wire::Frame& request);
  Result<wire::Frame> policy(wire::Frame& request);
  Result<wire::Frame> space(wire::Frame& request);
  Result<wire::Frame> prune(wire::Frame& request);
  Result<wire::Frame> spawn(wire::Frame& request);
  Result<wire::Frame> conditions(wire::Frame& request);
  Result<wire::Frame> environment(wire::Frame& request);
  Result<wire::Frame> bye(wire::Frame& request);
  void note_restored(std::string told);

  AgentStorage storage_;
  std::optional<HeldDevice> device_;
  HeldSettings settings_;  ///< Taken back while the device is still ours.
  std::string restored_;   ///< Settings that were taken back and not reported yet.
  SpawnCancel cancel_;
  std::int64_t heartbeat_ns_ = 0;
};

}  // namespace assay
