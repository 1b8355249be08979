// The machine of a measurement.
#include "tools/sampan/shared/output/machine.h"

#include <sched.h>
#include <sys/utsname.h>

#include <fstream>

namespace sampan::tool {

Machine ThisMachine() {
  Machine machine{.processor = "unknown processor"};
  std::ifstream facts("/proc/cpuinfo");
  for (std::string line; std::getline(facts, line);) {
    const auto colon = line.find(": ");
    if (!line.starts_with("model name") || colon == std::string::npos) continue;
    machine.processor = line.substr(colon + 2);
    break;
  }
  cpu_set_t usable;
  CPU_ZERO(&usable);
  if (::sched_getaffinity(0, sizeof usable, &usable) == 0)
    machine.cores = static_cast<unsigned>(CPU_COUNT(&usable));
  utsname names{};
  if (::uname(&names) == 0)
    machine.system = std::string(names.sysname) + " " + names.release + " " + names.machine;
  return machine;
}

}  // namespace sampan::tool
