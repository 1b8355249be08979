// Random numbers by place: the same for the same arguments, wherever they are asked for.
#pragma once

#include "hccl/base.h"

namespace collectives {

inline u64 Mixed(u64 word) {
  word += 0x9E3779B97F4A7C15;
  word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9;
  word = (word ^ (word >> 27)) * 0x94D049BB133111EB;
  return word ^ (word >> 31);
}
inline u64 Mixed(u64 seed, u64 row, u64 column) {
  return Mixed(Mixed(Mixed(seed) ^ row) ^ column);
}

}  // namespace collectives
