// Preloaded, makes a process and its children take this processor for an older one: CPUID, and
// /proc/cpuinfo, hide AMX, or AMX and all of AVX-512 and AVX-VNNI. So every engine chooses the
// kernels that it would choose there, and all of them can be compared with each other.
//   LD_PRELOAD=build/release/lib/libolder-processor.so OLDER_PROCESSOR=avx2 assay run …
// OLDER_PROCESSOR: "avx512vnni" hides AMX, "avx2" (the default) all above AVX2. Clock, caches and
// memory remain this machine's. Needs Linux on x86 that can make CPUID fault (flag cpuid_fault).
#include <algorithm>
#include <array>
#include <asm/prctl.h>
#include <cerrno>
#include <cpuid.h>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdio.h>
#include <string>
#include <string_view>

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/ucontext.h>
#include <unistd.h>

namespace {

struct Registers {
  unsigned eax, ebx, ecx, edx;
};

/// Bits of one leaf of CPUID, as Intel's manual (volume 2A, CPUID) names them.
struct HiddenBits {
  unsigned leaf, subleaf;
  Registers bits;
};

constexpr unsigned bit(unsigned n) { return 1U << n; }

/// AMX-BF16, -TILE, -INT8; AMX-FP16; AMX-COMPLEX.
constexpr std::array<HiddenBits, 2> kAmx = {
    {{7, 0, {0, 0, 0, bit(22) | bit(24) | bit(25)}}, {7, 1, {bit(21), 0, 0, bit(8)}}}};

/// AVX512F, DQ, IFMA, PF, ER, CD, BW, VL; VBMI, VBMI2, VNNI, BITALG, VPOPCNTDQ; 4VNNIW, 4FMAPS,
/// VP2INTERSECT, FP16; AVX-VNNI, AVX512-BF16, AVX-IFMA; AVX-VNNI-INT8, -NE-CONVERT, -VNNI-INT16,
/// AVX10.
constexpr std::array<HiddenBits, 2> kAboveAvx2 = {
    {{7,
      0,
      {0, bit(16) | bit(17) | bit(21) | bit(26) | bit(27) | bit(28) | bit(30) | bit(31),
       bit(1) | bit(6) | bit(11) | bit(12) | bit(14), bit(2) | bit(3) | bit(8) | bit(23)}},
     {7, 1, {bit(4) | bit(5) | bit(23), 0, 0, bit(4) | bit(5) | bit(10) | bit(19)}}}};

constexpr auto kFlagsOfAmx = std::to_array<std::string_view>({"amx_"});
constexpr auto kFlagsAboveAvx2 =
    std::to_array<std::string_view>({"avx512", "avx_vnni", "avx_ifma", "avx_ne_convert", "avx10"});

/// `environment`: as main gets it; getenv has none before the C library's own constructor.
bool hides_avx512(const char* const* environment) {
  constexpr std::string_view kLess = "OLDER_PROCESSOR=avx512vnni";
  while (*environment != nullptr && *environment != kLess) {
    ++environment;
  }
  return *environment == nullptr;
}

/// Set before CPUID faults for the first time.
bool is_avx512_hidden = true;

template <std::size_t n>
void hide(const std::array<HiddenBits, n>& hidden, unsigned leaf, unsigned subleaf,
          Registers& registers) {
  for (const auto& one : hidden) {
    if (one.leaf == leaf && one.subleaf == subleaf) {
      registers.eax &= ~one.bits.eax;
      registers.ebx &= ~one.bits.ebx;
      registers.ecx &= ~one.bits.ecx;
      registers.edx &= ~one.bits.edx;
    }
  }
}

/// Makes CPUID fault in this thread and those that it starts, or work again.
bool set_cpuid(bool works) { return syscall(SYS_arch_prctl, ARCH_SET_CPUID, works ? 1 : 0) == 0; }

Registers older_cpuid(unsigned leaf, unsigned subleaf) {
  Registers registers{};
  set_cpuid(true);
  __cpuid_count(leaf, subleaf, registers.eax, registers.ebx, registers.ecx, registers.edx);
  set_cpuid(false);
  hide(kAmx, leaf, subleaf, registers);
  if (is_avx512_hidden) {
    hide(kAboveAvx2, leaf, subleaf, registers);
  }
  return registers;
}

/// The function of this name that the program would call without this library.
void* next(const char* name) { return dlsym(RTLD_NEXT, name); }

using Sigaction = int (*)(int, const struct sigaction*, struct sigaction*);

Sigaction real_sigaction() {
  static const auto real = reinterpret_cast<Sigaction>(next("sigaction"));
  return real;
}

/// Handler that the program installed, for other faults.
struct sigaction of_program = {};

/// A fault that is none of CPUID's: what the program installed, or death as without this library.
void pass_on(int signal, siginfo_t* info, void* context) {
  if ((of_program.sa_flags & SA_SIGINFO) != 0) {
    of_program.sa_sigaction(signal, info, context);
  } else if (of_program.sa_handler != SIG_DFL && of_program.sa_handler != SIG_IGN) {
    of_program.sa_handler(signal);
  } else {
    real_sigaction()(SIGSEGV, &of_program, nullptr);  // The instruction faults once more.
    if (info->si_code <= 0) {
      raise(signal);  // It was sent by a process.
    }
  }
}

bool is_cpuid(const siginfo_t& info, greg_t instruction) {
  constexpr std::uint16_t kCpuid = 0xa20f;
  if (info.si_code != SI_KERNEL) {  // A general protection fault; the page is there then.
    return false;
  }
  std::uint16_t code = 0;
  // The processor tells where it is as a number.
  const auto* place =
      reinterpret_cast<const void*>(instruction);  // NOLINT(performance-no-int-to-ptr)
  std::memcpy(&code, place, sizeof(code));
  return code == kCpuid;
}

void handle_fault(int signal, siginfo_t* info, void* context) {
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  if (!is_cpuid(*info, registers[REG_RIP])) {
    pass_on(signal, info, context);
    return;
  }
  const int error = errno;
  const auto answer = older_cpuid(static_cast<unsigned>(registers[REG_RAX]),
                                  static_cast<unsigned>(registers[REG_RCX]));
  registers[REG_RAX] = answer.eax;
  registers[REG_RBX] = answer.ebx;
  registers[REG_RCX] = answer.ecx;
  registers[REG_RDX] = answer.edx;
  registers[REG_RIP] += 2;
  errno = error;
}

// Linked with -z initfirst: before the constructors of other libraries look at the processor.
__attribute__((constructor)) void begin(int /*argc*/, char** /*argv*/, char** environment) {
  is_avx512_hidden = hides_avx512(environment);
  struct sigaction action = {};
  action.sa_sigaction = handle_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  if (real_sigaction()(SIGSEGV, &action, &of_program) != 0 || !set_cpuid(false)) {
    fputs("older-processor: CPUID cannot be made to fault here; the processor is as it is\n",
          stderr);
  }
}

bool is_hidden(std::string_view flag) {
  const auto begins = [flag](std::string_view prefix) { return flag.starts_with(prefix); };
  return std::ranges::any_of(kFlagsOfAmx, begins) ||
         (is_avx512_hidden && std::ranges::any_of(kFlagsAboveAvx2, begins));
}

/// The words of a text that name no hidden flag, with what stands between them.
std::string without_flags(std::string_view text) {
  std::string kept;
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of(" \n"), text.size() - 1) + 1;
    if (const auto word = text.substr(0, end); !is_hidden(word)) {
      kept += word;
    } else if (word.back() == '\n') {
      kept += '\n';
    }
    text.remove_prefix(end);
  }
  return kept;
}

/// A file in memory with what /proc/cpuinfo tells of the older processor; -1: none could be made.
int open_cpuinfo() {
  const auto file = static_cast<int>(syscall(SYS_openat, AT_FDCWD, "/proc/cpuinfo", O_RDONLY));
  if (file < 0) {
    return -1;
  }
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t n = 0; (n = read(file, part.data(), part.size())) > 0;) {
    text.append(part.data(), static_cast<std::size_t>(n));
  }
  close(file);
  text = without_flags(text);
  const int memory = memfd_create("cpuinfo", MFD_CLOEXEC);
  const auto written = memory < 0 ? -1 : write(memory, text.data(), text.size());
  return written < 0 || lseek(memory, 0, SEEK_SET) != 0 ? -1 : memory;
}

bool is_cpuinfo(const char* path) {
  return path != nullptr && std::strcmp(path, "/proc/cpuinfo") == 0;
}

}  // namespace

extern "C" {

int sigaction(int signal, const struct sigaction* action, struct sigaction* before) noexcept {
  if (signal != SIGSEGV) {
    return real_sigaction()(signal, action, before);
  }
  if (before != nullptr) {
    *before = of_program;
  }
  if (action != nullptr) {
    of_program = *action;
  }
  return 0;
}

sighandler_t signal(int signal, sighandler_t handler) noexcept {
  struct sigaction action = {};
  struct sigaction before = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  return sigaction(signal, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}

int open(const char* path, int flags, ...) {
  if (is_cpuinfo(path)) {
    return open_cpuinfo();
  }
  static const auto real = reinterpret_cast<int (*)(const char*, int, ...)>(next("open"));
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return real(path, flags, mode);
}

FILE* fopen(const char* path, const char* mode) {
  if (is_cpuinfo(path)) {
    const int file = open_cpuinfo();
    return file < 0 ? nullptr : fdopen(file, mode);
  }
  static const auto real = reinterpret_cast<FILE* (*)(const char*, const char*)>(next("fopen"));
  return real(path, mode);
}

// With 64-bit addresses both names are one function.
int open64(const char* path, int flags, ...) __attribute__((alias("open")));
FILE* fopen64(const char* path, const char* mode) __attribute__((alias("fopen")));
}
