// Memory of a test that a network lends to others.
#pragma once

#include "backend/fabric/network.h"
#include "tests/support/random_bytes.h"

namespace sampan::fabric::test {

using sampan::test::Bytes;

inline NetworkOptions Loopback() {
  NetworkOptions options;
  options.interface.names = "=lo";
  options.interface.family = "AF_INET";
  return options;
}

class LentBytes final : public LentMemory {
 public:
  explicit LentBytes(Bytes& bytes, bool read_only = false) : bytes_(bytes) {
    facts_.bytes = bytes.size();
    facts_.attribute = 4;
    facts_.read_only = read_only ? 1 : 0;
  }
  const PeerMemoryFacts& facts() const override { return facts_; }
  bool Admits(const PeerProcess& importer) const override { return importer.process != refused; }
  Result<std::byte*> Map() override { return bytes_.data(); }

  std::int32_t refused = -1;

 private:
  Bytes& bytes_;
  PeerMemoryFacts facts_;
};

}  // namespace sampan::fabric::test
