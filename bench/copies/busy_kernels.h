// Kernels of a program that computes while copies run: arithmetic, and a stream through device memory.
#pragma once

namespace bench {

/// bench_fma(out, rounds): every thread multiplies and adds. bench_memory(out, in, vectors): reads and writes
/// that many vectors of 16 bytes four times.
inline constexpr const char* kBusyKernels = R"(
.version 6.0
.target sm_70
.address_size 64

.visible .entry bench_fma(.param .u64 out, .param .u32 rounds)
{
  .reg .pred %again, %never;
  .reg .f32 %a, %b, %c, %d;
  .reg .u32 %left, %thread;
  .reg .u64 %to;
  ld.param.u32 %left, [rounds];
  mov.u32 %thread, %tid.x;
  cvt.rn.f32.u32 %a, %thread;
  mov.f32 %b, 0f3F800347;
  mov.f32 %c, 0f3F000000;
  mov.f32 %d, 0f40000000;
next_round:
  fma.rn.f32 %a, %a, %b, %c;
  fma.rn.f32 %d, %d, %b, %a;
  fma.rn.f32 %c, %c, %b, 0f3DCCCCCD;
  fma.rn.f32 %b, %b, 0f3F800000, 0f3089705F;
  sub.u32 %left, %left, 1;
  setp.ne.u32 %again, %left, 0;
  @%again bra next_round;
  add.rn.f32 %a, %a, %d;
  setp.eq.f32 %never, %a, 0f4640E400;
  @!%never bra done;
  ld.param.u64 %to, [out];
  st.global.f32 [%to], %a;
done:
  ret;
}

.visible .entry bench_memory(.param .u64 out, .param .u64 in, .param .u64 vectors)
{
  .reg .pred %more, %again;
  .reg .f32 %a, %b, %c, %d;
  .reg .u32 %left, %block, %threads, %thread, %blocks, %all;
  .reg .u64 %at, %first, %step, %count, %from, %to, %read, %written, %offset;
  ld.param.u64 %to, [out];
  ld.param.u64 %from, [in];
  ld.param.u64 %count, [vectors];
  mov.u32 %block, %ctaid.x;
  mov.u32 %threads, %ntid.x;
  mov.u32 %thread, %tid.x;
  mov.u32 %blocks, %nctaid.x;
  mad.lo.u32 %all, %block, %threads, %thread;
  cvt.u64.u32 %first, %all;
  mul.lo.u32 %all, %blocks, %threads;
  cvt.u64.u32 %step, %all;
  mov.u32 %left, 4;
next_pass:
  mov.u64 %at, %first;
next_vector:
  setp.lt.u64 %more, %at, %count;
  @!%more bra pass_done;
  shl.b64 %offset, %at, 4;
  add.s64 %read, %from, %offset;
  add.s64 %written, %to, %offset;
  ld.global.v4.f32 {%a, %b, %c, %d}, [%read];
  add.rn.f32 %a, %a, 0f3F800000;
  st.global.v4.f32 [%written], {%a, %b, %c, %d};
  add.s64 %at, %at, %step;
  bra next_vector;
pass_done:
  sub.u32 %left, %left, 1;
  setp.ne.u32 %again, %left, 0;
  @%again bra next_pass;
  ret;
}
)";

}  // namespace bench
