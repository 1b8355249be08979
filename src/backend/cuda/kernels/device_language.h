// The part of CUDA C++ that the kernels use, for nvcc and for clang without the CUDA toolkit.
#pragma once

#if defined(__clang__)
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
/// The threads of a block, and the blocks that must fit on a multiprocessor.
#define SAMPAN_LAUNCH_BOUNDS(threads, blocks) __attribute__((launch_bounds(threads, blocks)))
static __device__ inline unsigned ThreadInBlock() {
  return __nvvm_read_ptx_sreg_tid_x();
}
static __device__ inline unsigned BlockInGrid() {
  return __nvvm_read_ptx_sreg_ctaid_x();
}
static __device__ inline unsigned ThreadsPerBlock() {
  return __nvvm_read_ptx_sreg_ntid_x();
}
static __device__ inline unsigned Blocks() {
  return __nvvm_read_ptx_sreg_nctaid_x();
}
static __device__ inline bool AnyInWarp(bool mine) {
  return __nvvm_vote_any_sync(0xFFFFFFFFU, mine);
}
static __device__ inline unsigned FromLane(unsigned mine, unsigned lane) {
  return static_cast<unsigned>(
      __nvvm_shfl_sync_idx_i32(0xFFFFFFFFU, static_cast<int>(mine), static_cast<int>(lane), 31));
}
#else
#define SAMPAN_LAUNCH_BOUNDS(threads, blocks) __launch_bounds__(threads, blocks)
static __device__ inline unsigned ThreadInBlock() {
  return threadIdx.x;
}
static __device__ inline unsigned BlockInGrid() {
  return blockIdx.x;
}
static __device__ inline unsigned ThreadsPerBlock() {
  return blockDim.x;
}
static __device__ inline unsigned Blocks() {
  return gridDim.x;
}
static __device__ inline bool AnyInWarp(bool mine) {
  return __any_sync(0xFFFFFFFFU, mine) != 0;
}
static __device__ inline unsigned FromLane(unsigned mine, unsigned lane) {
  return __shfl_sync(0xFFFFFFFFU, mine, static_cast<int>(lane));
}
#endif

/// The value of another thread of the warp. All threads of the warp must call it.
static __device__ inline unsigned long long FromLane(unsigned long long mine, unsigned lane) {
  const unsigned low = FromLane(static_cast<unsigned>(mine), lane);
  const unsigned high = FromLane(static_cast<unsigned>(mine >> 32), lane);
  return static_cast<unsigned long long>(high) << 32 | low;
}

/// A barrier for all threads of the block. Shared variables must also be volatile: otherwise optimizers that
/// see all accesses move them across the barrier.
static __device__ inline void SyncBlock() {
  asm volatile("bar.sync 0;" ::: "memory");
}
