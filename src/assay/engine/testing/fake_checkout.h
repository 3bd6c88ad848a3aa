#pragma once

#include <filesystem>
#include <gtest/gtest.h>
#include <string>

#include "assay/base/fs.h"
#include "assay/engine/checkout_check.h"

namespace assay {

/// A folder that looks like a checkout of ExecuTorch with its submodules, an installation beside
/// it, and programs that only tell their versions, which alone are on $PATH.
class FakeCheckout : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  /// A script of sh in the folder that is $PATH.
  void write_program(const std::string& name, const std::string& script) const;
  void write(const std::string& path, const std::string& text = "") const;
  [[nodiscard]] std::filesystem::path path(const std::string& below) const {
    return folder_.path() / below;
  }
  /// Asks for one backend, with all that it needs.
  [[nodiscard]] CheckoutRequest request(const std::string& backend) const;
  /// Arguments of the scripted cmake, one call a line.
  [[nodiscard]] std::string cmake_calls() const;

 private:
  TemporaryFolder folder_ = TemporaryFolder::make("assay-checkout").value();
  std::string path_;
};

}  // namespace assay
