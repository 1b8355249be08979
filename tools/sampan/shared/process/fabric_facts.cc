// What memory of other hosts needs here: libfabric, its provider, an interface.
#include "tools/sampan/shared/process/fabric_facts.h"

#ifdef SAMPAN_HAS_LIBFABRIC
#include "backend/fabric/provider/library.h"
#include "backend/fabric/provider/port.h"
#include "base/network/interface.h"
#endif

namespace sampan::tool {

std::string FabricFacts::Text() const {
  if (!usable()) return "none: " + reason;
  return "libfabric " + version + ", provider " + provider + ", at " + address;
}

#ifdef SAMPAN_HAS_LIBFABRIC

FabricFacts ReadFabricFacts() {
  FabricFacts facts;
  auto library = fabric::LoadLibrary();
  if (!library.ok()) {
    facts.reason = library.error().message;
    return facts;
  }
  const std::uint32_t version = library->version();
  facts.version = std::to_string(FI_MAJOR(version)) + "." + std::to_string(FI_MINOR(version));
  auto port = fabric::Port::Open(*library);
  if (!port.ok()) {
    facts.reason = port.error().message;
    return facts;
  }
  facts.provider = (*port)->provider();
  auto address = ChooseInterface(ReadInterfaceWish(), UsableInterfaces());
  if (address.ok()) {
    facts.address = HostText(*address);
  } else {
    facts.reason = address.error().message;
  }
  return facts;
}

#else

FabricFacts ReadFabricFacts() {
  FabricFacts facts;
  facts.reason = "this command was built without libfabric's headers (Debian: libfabric-dev)";
  return facts;
}

#endif

}  // namespace sampan::tool
