#pragma once

#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <string_view>

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/store/result_store.h"
#include "assay/store/sqlite/sqlite_store.h"
#include "assay/store/testing/sample_records.h"

namespace assay::sqlite {

/// A folder for stores in files. Parts of tests.
class SqliteStore : public testing::Test {
 protected:
  SqliteStore() : folder_(make_store_folder()) {}

  [[nodiscard]] std::filesystem::path file(std::string_view name = "results.db") const {
    return folder_.path() / name;
  }
  [[nodiscard]] std::unique_ptr<SqliteResultStore> open(
      std::string_view name = "results.db") const {
    return SqliteResultStore::open(file(name)).value();
  }
  [[nodiscard]] Error error_of_opening(std::string_view name) const {
    const auto store = open_sqlite_store(file(name));
    return store ? Error{.code = ErrorCode::kInternal, .message = "it opened"} : store.error();
  }

  TemporaryFolder folder_;
};

// Runs `work` in a child process, which never returns from here.
inline pid_t start_child(const std::function<void()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::_exit(0);
  }
  return child;
}

inline int exit_code_of(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace assay::sqlite
