// libfabric, loaded when it is needed.
#include "backend/fabric/provider/library.h"

#include <dlfcn.h>
#include <signal.h>

#include "base/error/text.h"

namespace sampan::fabric {
namespace {

constexpr const char* kFile = "libfabric.so.1";

/// Puts the handlers of signals back. A library that libfabric brings along (libinfinipath) replaces those of
/// faults when it is loaded.
class KeptSignals {
 public:
  KeptSignals() {
    for (int number = 1; number < kSignals; ++number)
      ::sigaction(number, nullptr, &before_[number]);
  }
  ~KeptSignals() {
    for (int number = 1; number < kSignals; ++number) {
      struct sigaction now = {};
      if (::sigaction(number, nullptr, &now) == 0 && now.sa_sigaction != before_[number].sa_sigaction)
        ::sigaction(number, &before_[number], nullptr);
    }
  }
  KeptSignals(const KeptSignals&) = delete;
  KeptSignals& operator=(const KeptSignals&) = delete;

 private:
  static constexpr int kSignals = 32;
  struct sigaction before_[kSignals] = {};
};

void* OpenLibrary() {
  const KeptSignals kept;
  return ::dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
}

template <typename Function>
bool Find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

Status Load(Library& found) {
  void* const library = OpenLibrary();
  if (library == nullptr) {
    const char* const why = ::dlerror();  // NOLINT(concurrency-mt-unsafe): each thread has its own
    return {Code::kFeatureNotSupport,
            Text("memory of other hosts needs ", std::string_view(kFile),
                 ", which cannot be loaded: ", std::string_view(why != nullptr ? why : "unknown"),
                 "; install it (Debian: libfabric1) on both hosts")};
  }
  const bool whole =
      Find(library, "fi_getinfo", found.get_info) && Find(library, "fi_freeinfo", found.free_info) &&
      Find(library, "fi_dupinfo", found.dup_info) && Find(library, "fi_fabric", found.open_fabric) &&
      Find(library, "fi_strerror", found.error_text) && Find(library, "fi_version", found.version);
  if (whole && FI_VERSION_GE(found.version(), FI_VERSION(1, 17))) return {};
  return {
      Code::kFeatureNotSupport,
      Text("memory of other hosts needs libfabric 1.17 or newer: ", std::string_view(kFile), " is older")};
}

}  // namespace

Result<Library> LoadLibrary() {
  Result<Library> library(std::in_place);
  if (Status loaded = Load(*library); !loaded.ok()) return loaded;
  return library;
}

}  // namespace sampan::fabric
