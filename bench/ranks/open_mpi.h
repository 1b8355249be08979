// Open MPI, found when the program runs: the same operators on ordinary memory.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "bench/ranks/operator_case.h"

namespace bench {

/// The library that mpirun's processes talk through. One at a time, on the thread that made it. Programs need
/// neither its headers nor the library to be built.
class OpenMpi {
 public:
  /// Loads and initialises it. Throws a Failure if it is not installed.
  OpenMpi();
  ~OpenMpi();
  OpenMpi(const OpenMpi&) = delete;
  OpenMpi& operator=(const OpenMpi&) = delete;

  u32 rank() const { return rank_; }
  u32 size() const { return size_; }
  /// "Open MPI 4.1.4".
  std::string Version() const;
  void Barrier();
  /// The largest of all ranks' numbers.
  double Largest(double mine);

  /// Whether it has the type; fp16 and bfp16 are missing.
  static bool Has(HcclDataType type);
  /// The operator on these buffers, as a call without arguments. A broadcast uses the output alone.
  std::function<void()> CallOf(const OperatorCase& what, const std::byte* input, std::byte* output) const;

 private:
  struct Library;
  const std::unique_ptr<const Library> library_;
  u32 rank_ = 0, size_ = 1;
};

}  // namespace bench
