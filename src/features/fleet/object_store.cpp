#include "features/fleet/object_store.h"

#include "features/fleet/artifact_store.h"
#include "features/fleet/json_process.h"

#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "assay/base/result.h"

namespace assay {
namespace {

constexpr std::chrono::minutes kTransferTimeout{15};

class ObjectStore final : public ArtifactStore {
 public:
  explicit ObjectStore(JsonProcess process) : process_(std::move(process)) {}

  Status put(const std::filesystem::path& file, const std::string& sha256) override {
    return transfer({{"put", sha256}, {"file", file.string()}});
  }

  Status get(const std::string& sha256, const std::filesystem::path& target) override {
    ASSAY_RETURN_IF_ERROR(transfer({{"get", sha256}, {"file", target.string()}}));
    return check_digest(target, sha256);
  }

 private:
  Status transfer(const Json& request) {
    ASSAY_ASSIGN_OR_RETURN([[maybe_unused]] const auto answer,
                           process_.ask(request, kTransferTimeout));
    return {};
  }

  JsonProcess process_;
};

}  // namespace

Result<std::unique_ptr<ArtifactStore>> open_object_store(const std::string& reference,
                                                         const std::filesystem::path& python) {
  ASSAY_ASSIGN_OR_RETURN(auto process,
                         JsonProcess::start(python, "assay.fleet.objects", {reference}));
  constexpr std::chrono::seconds kFirstAnswer{60};
  if (auto answer = process.ask({{"check", true}}, kFirstAnswer); !answer) {
    return fail_with_context(std::move(answer).error(), "artifact store " + reference);
  }
  return std::make_unique<ObjectStore>(std::move(process));
}

}  // namespace assay
