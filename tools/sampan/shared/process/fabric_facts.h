// What memory of other hosts needs here: libfabric, its provider, an interface.
#pragma once

#include <string>

namespace sampan::tool {

struct FabricFacts {
  std::string provider;  ///< empty: there is none
  std::string version;   ///< of libfabric
  std::string address;   ///< of the interface that exports would listen on
  std::string reason;    ///< why there is none

  bool usable() const { return reason.empty(); }
  /// One line.
  std::string Text() const;
};

/// Loads libfabric. Does not start the runtime, and does not listen.
FabricFacts ReadFabricFacts();

}  // namespace sampan::tool
