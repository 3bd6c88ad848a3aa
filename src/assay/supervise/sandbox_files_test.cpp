// Every way to change a file, its name or what is noted of it, tried in the boxes that kernels of
// several ages offer, as root and as an ordinary user.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <new>
#include <string>
#include <utime.h>
#include <vector>

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "assay/base/fs.h"
#include "assay/record/sandbox.h"
#include "assay/supervise/sandbox.h"
#include "assay/supervise/sandbox_abilities.h"
#include "assay/supervise/sandbox_view.h"

namespace assay {
namespace {

constexpr uid_t kOrdinaryUser = 65534;
constexpr const char* kAttribute = "user.assay";

/// A file that a hostile program is after.
struct Prey {
  std::string file;    ///< A file of the user, or one that it may read.
  std::string folder;  ///< Where the file is.
  std::string fresh;   ///< A name there that is free.
};

/// Does something to it. Below 0: refused, and errno says how.
struct Change {
  const char* name;
  long (*make)(const Prey&);
};

/// Takes the lock on the file opened for reading.
template <class Act>
long on_opened(const Prey& prey, Act act) {
  const int file = ::open(prey.file.c_str(), O_RDONLY | O_CLOEXEC);
  const long done = file < 0 ? -1 : act(file);
  const int cause = errno;
  ::close(file);
  errno = cause;
  return done;
}

long set_flags(int file) {
  int flags = 0;
  ::ioctl(file, FS_IOC_GETFLAGS, &flags);
  return ::ioctl(file, FS_IOC_SETFLAGS, &flags);
}

/// Numbers that the headers of some systems lack.
constexpr int kFchmodat2 = 452;
constexpr int kSetxattrat = 463;
constexpr int kRemovexattrat = 466;
constexpr int kOpenat2 = 437;

struct AttributeArguments {
  std::uint64_t value;
  std::uint32_t size;
  std::uint32_t flags;
};

long open_by_struct(const Prey& prey, std::uint64_t flags) {
  const std::array<std::uint64_t, 3> how{flags, 0, 0};
  return ::syscall(kOpenat2, AT_FDCWD, prey.file.c_str(), how.data(), sizeof(how));
}

long set_attribute_at(const Prey& prey) {
  const AttributeArguments arguments{
      .value = reinterpret_cast<std::uintptr_t>("x"), .size = 1, .flags = 0};
  return ::syscall(kSetxattrat, AT_FDCWD, prey.file.c_str(), 0, kAttribute, &arguments,
                   sizeof(arguments));
}

const char* file_of(const Prey& prey) { return prey.file.c_str(); }

/// Those that leave the file where it is come first.
constexpr auto kChanges = std::to_array<Change>({
    {"chmod", [](const Prey& p) -> long { return ::chmod(file_of(p), 0777); }},
    {"chmod of the folder", [](const Prey& p) -> long { return ::chmod(p.folder.c_str(), 0777); }},
    {"fchmodat",
     [](const Prey& p) { return ::syscall(SYS_fchmodat, AT_FDCWD, file_of(p), 04777); }},
    {"fchmodat2",
     [](const Prey& p) { return ::syscall(kFchmodat2, AT_FDCWD, file_of(p), 04777, 0); }},
    {"fchmod",
     [](const Prey& p) {
       return on_opened(p, [](int file) -> long { return ::fchmod(file, 04777); });
     }},
    {"chown", [](const Prey& p) -> long { return ::chown(file_of(p), ::getuid(), ::getgid()); }},
    {"lchown", [](const Prey& p) -> long { return ::lchown(file_of(p), ::getuid(), ::getgid()); }},
    {"fchownat",
     [](const Prey& p) -> long {
       return ::fchownat(AT_FDCWD, file_of(p), ::getuid(), ::getgid(), 0);
     }},
    {"fchown",
     [](const Prey& p) {
       return on_opened(p, [](int file) -> long { return ::fchown(file, ::getuid(), ::getgid()); });
     }},
    {"utime", [](const Prey& p) -> long { return ::utime(file_of(p), nullptr); }},
    {"utimes", [](const Prey& p) -> long { return ::utimes(file_of(p), nullptr); }},
    {"futimesat", [](const Prey& p) -> long { return ::futimesat(AT_FDCWD, file_of(p), nullptr); }},
    {"utimensat",
     [](const Prey& p) -> long { return ::utimensat(AT_FDCWD, file_of(p), nullptr, 0); }},
    {"futimens",
     [](const Prey& p) {
       return on_opened(p, [](int file) -> long { return ::futimens(file, nullptr); });
     }},
    {"setxattr",
     [](const Prey& p) -> long { return ::setxattr(file_of(p), kAttribute, "x", 1, 0); }},
    {"lsetxattr",
     [](const Prey& p) -> long { return ::lsetxattr(file_of(p), kAttribute, "x", 1, 0); }},
    {"fsetxattr",
     [](const Prey& p) {
       return on_opened(p,
                        [](int file) -> long { return ::fsetxattr(file, kAttribute, "x", 1, 0); });
     }},
    {"setxattrat", set_attribute_at},
    {"removexattr", [](const Prey& p) -> long { return ::removexattr(file_of(p), kAttribute); }},
    {"lremovexattr", [](const Prey& p) -> long { return ::lremovexattr(file_of(p), kAttribute); }},
    {"fremovexattr",
     [](const Prey& p) {
       return on_opened(p, [](int file) -> long { return ::fremovexattr(file, kAttribute); });
     }},
    {"removexattrat",
     [](const Prey& p) { return ::syscall(kRemovexattrat, AT_FDCWD, file_of(p), 0, kAttribute); }},
    {"ioctl", [](const Prey& p) { return on_opened(p, [](int file) { return set_flags(file); }); }},
    {"open to write", [](const Prey& p) -> long { return ::open(file_of(p), O_WRONLY); }},
    {"open to append", [](const Prey& p) -> long { return ::open(file_of(p), O_RDWR | O_APPEND); }},
    {"openat2 to write", [](const Prey& p) { return open_by_struct(p, O_WRONLY); }},
    {"open to make", [](const Prey& p) -> long { return ::creat(p.fresh.c_str(), 0600); }},
    {"mkdir", [](const Prey& p) -> long { return ::mkdir((p.fresh + "d").c_str(), 0700); }},
    {"symlink", [](const Prey& p) -> long { return ::symlink("x", (p.fresh + "s").c_str()); }},
    {"link", [](const Prey& p) -> long { return ::link(file_of(p), (p.fresh + "l").c_str()); }},
    {"mknod",
     [](const Prey& p) -> long { return ::mknod((p.fresh + "p").c_str(), S_IFIFO | 0600, 0); }},
    {"truncate", [](const Prey& p) -> long { return ::truncate(file_of(p), 1); }},
    {"open to read and cut", [](const Prey& p) -> long { return ::open(file_of(p), O_TRUNC); }},
    {"openat to cut",
     [](const Prey& p) -> long { return ::openat(AT_FDCWD, file_of(p), O_ACCMODE | O_TRUNC); }},
    {"openat2 to cut", [](const Prey& p) { return open_by_struct(p, O_TRUNC); }},
    {"renameat2",
     [](const Prey& p) {
       return ::syscall(SYS_renameat2, AT_FDCWD, file_of(p), AT_FDCWD, file_of(p), 0);
     }},
    {"rename", [](const Prey& p) -> long { return ::rename(file_of(p), (p.fresh + "r").c_str()); }},
    {"rename back",
     [](const Prey& p) -> long { return ::rename((p.fresh + "r").c_str(), file_of(p)); }},
    {"unlink", [](const Prey& p) -> long { return ::unlink(file_of(p)); }},
});

/// 0, or the errno of each change.
using Causes = std::array<int, kChanges.size()>;

/// All that can be told of a file and its folder.
std::string state_of(const Prey& prey) {
  std::string text = read_file(prey.file).value_or("missing");
  for (const auto& path : {prey.file, prey.folder}) {
    struct stat info{};
    ::stat(path.c_str(), &info);
    std::array<char, 256> names{};
    const auto size = ::listxattr(path.c_str(), names.data(), names.size());
    text += fmt::format(" {:o} {} {} {}.{} {} {}", info.st_mode, info.st_uid, info.st_size,
                        info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_nlink, size);
  }
  return text;
}

/// A kernel's means.
struct Kernel {
  const char* name;
  int most_landlock;
  bool has_namespaces;
  bool has_read_only;
};

constexpr auto kKernels = std::to_array<Kernel>({
    {.name = "Now", .most_landlock = 99, .has_namespaces = true, .has_read_only = true},
    {.name = "Linux5_13", .most_landlock = 1, .has_namespaces = true, .has_read_only = true},
    {.name = "NoReadOnlyView", .most_landlock = 1, .has_namespaces = true, .has_read_only = false},
    {.name = "NoNamespaces", .most_landlock = 99, .has_namespaces = false, .has_read_only = false},
    {.name = "NoNamespaces5_13",
     .most_landlock = 1,
     .has_namespaces = false,
     .has_read_only = false},
});

struct Setting {
  Kernel kernel;
  bool is_root;
};

SandboxAbilities abilities_of(const Kernel& kernel) {
  auto abilities = sandbox_abilities();
  abilities.landlock_abi = std::min(abilities.landlock_abi, kernel.most_landlock);
  abilities.namespaces_error = kernel.has_namespaces ? abilities.namespaces_error : EPERM;
  abilities.read_only_error = kernel.has_read_only ? abilities.read_only_error : EPERM;
  return abilities;
}

class SandboxedFiles : public testing::TestWithParam<Setting> {
 protected:
  void SetUp() override {
    const auto& real = sandbox_abilities();
    if (real.landlock_abi == 0 || real.seccomp_error != 0 || real.read_only_error != 0) {
      GTEST_SKIP() << "this kernel or container lacks Landlock, namespaces or seccomp";
    }
    if (GetParam().is_root && ::getuid() != 0) {
      GTEST_SKIP() << "needs root";
    }
    for (const auto& prey : {open_, closed_}) {
      ASSERT_TRUE(write_file_atomically(prey.file, "content"));
      ::setxattr(prey.file.c_str(), kAttribute, "y", 1, 0);
      ASSERT_EQ(::chmod(prey.file.c_str(), 0600), 0);
    }
    if (::getuid() == 0 && !GetParam().is_root) {
      for (const auto& path : {folder_.path().string(), own_.path().string(), open_.folder,
                               open_.file, closed_.folder, closed_.file}) {
        ASSERT_EQ(::chown(path.c_str(), kOrdinaryUser, kOrdinaryUser), 0);
      }
    }
  }

  static Prey prey_in(const std::filesystem::path& folder) {
    return {.file = (folder / "file").string(),
            .folder = folder.string(),
            .fresh = (folder / "fresh").string()};
  }

  /// Makes all changes to it in a child. Whether the box was entered.
  bool try_all(const Prey& prey, const Sandbox* sandbox, Causes& causes) const {
    void* const memory =
        ::mmap(nullptr, sizeof(Causes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    auto* const shared = new (memory) Causes{};
    const pid_t child = ::fork();
    if (child == 0) {
      ::_exit(change_in_child(prey, sandbox, *shared));
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    causes = *shared;
    ::munmap(memory, sizeof(Causes));
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

  TemporaryFolder folder_ = TemporaryFolder::make("assay-files").value();
  TemporaryFolder own_ = TemporaryFolder::make("assay-own").value();
  Prey open_ = prey_in(folder_.path() / "open");
  Prey closed_ = prey_in(folder_.path() / "closed");

 private:
  static int change_in_child(const Prey& prey, const Sandbox* sandbox, Causes& causes) {
    if (!GetParam().is_root && ::getuid() == 0) {
      const bool is_other = ::setgid(kOrdinaryUser) == 0 && ::setuid(kOrdinaryUser) == 0 &&
                            ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0;
      if (!is_other) {
        return EXIT_FAILURE;
      }
    }
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (sandbox != nullptr && sandbox->enter() != 0) {
      return EXIT_FAILURE;
    }
    for (std::size_t i = 0; i < kChanges.size(); ++i) {
      causes[i] = kChanges[i].make(prey) < 0 ? errno : 0;
    }
    return EXIT_SUCCESS;
  }
};

TEST_P(SandboxedFiles, StayAsTheyAre) {
  const SandboxRequest request{.mode = SandboxMode::kOn, .readable = {open_.folder, open_.file}};
  const auto sandbox =
      Sandbox::prepare(request, own_.path().string(), abilities_of(GetParam().kernel));
  ASSERT_TRUE(sandbox) << sandbox.error().message;
  for (const auto& prey : {open_, closed_}) {
    const auto before = state_of(prey);
    Causes causes{};
    ASSERT_TRUE(try_all(prey, &*sandbox, causes)) << "the box was not entered";
    for (std::size_t i = 0; i < kChanges.size(); ++i) {
      EXPECT_NE(causes[i], 0) << kChanges[i].name << " of " << prey.file;
    }
    EXPECT_EQ(state_of(prey), before);
  }
}

/// A change that nothing but the box refuses; else the test above would show nothing.
TEST_P(SandboxedFiles, ChangeWithoutABox) {
  Causes causes{};
  ASSERT_TRUE(try_all(closed_, nullptr, causes));
  for (std::size_t i = 0; i < kChanges.size(); ++i) {
    for (const int refusal : {EPERM, EACCES, EROFS}) {
      EXPECT_NE(causes[i], refusal) << kChanges[i].name;
    }
  }
  EXPECT_FALSE(std::filesystem::exists(closed_.file));
}

std::vector<Setting> all_settings() {
  std::vector<Setting> settings;
  for (const auto& kernel : kKernels) {
    settings.push_back({.kernel = kernel, .is_root = true});
    settings.push_back({.kernel = kernel, .is_root = false});
  }
  return settings;
}

INSTANTIATE_TEST_SUITE_P(Kernels, SandboxedFiles, testing::ValuesIn(all_settings()),
                         [](const auto& setting) {
                           return fmt::format("{}As{}", setting.param.kernel.name,
                                              setting.param.is_root ? "Root" : "User");
                         });

TEST(SandboxView, LimitsProcessesWhereTheirNumberIsItsOwn) {
  EXPECT_TRUE(has_own_pid_max("6.14.0-rc1"));
  EXPECT_TRUE(has_own_pid_max("7.0.1"));
  EXPECT_FALSE(has_own_pid_max("6.13.9-generic"));
  EXPECT_FALSE(has_own_pid_max("6.1.0-56-cloud-amd64"));
  EXPECT_FALSE(has_own_pid_max(""));
}

TEST(SandboxReport, NamesTheFilesAsOpenWhereOneOfTheirGuardsIsMissing) {
  auto abilities = sandbox_abilities();
  abilities.landlock_abi = 1;
  abilities.seccomp_error = EINVAL;
  EXPECT_FALSE(promise_sandbox(SandboxMode::kRequired, false, abilities));
  const auto report = promise_sandbox(SandboxMode::kOn, false, abilities).value();
  EXPECT_EQ(report.missing.front(), "filesystem (seccomp: Invalid argument)");
}

}  // namespace
}  // namespace assay
