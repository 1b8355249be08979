// How an importer proves that it knows a handle's secret, before libfabric sees anything of it.
#include "backend/fabric/gate/handshake.h"

namespace sampan::fabric {
namespace {

enum class Role : std::uint64_t { kImporter = 1, kOwner = 2 };

struct Proven {
  Role role;
  Hello hello;
  Challenge challenge;
};

Digest ProofOf(const Key& secret, Role role, const Hello& hello, const Challenge& challenge) {
  return KeyedHashOf(secret, Proven{role, hello, challenge});
}

}  // namespace

Digest ProofOfImporter(const Key& secret, const Hello& hello, const Challenge& challenge) {
  return ProofOf(secret, Role::kImporter, hello, challenge);
}

Digest ProofOfOwner(const Key& secret, const Hello& hello, const Challenge& challenge) {
  return ProofOf(secret, Role::kOwner, hello, challenge);
}

}  // namespace sampan::fabric
