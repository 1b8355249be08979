// A kernel that copies pieces through shared memory by bulk copies, to compare with the kernels of the
// library.
#pragma once

namespace bench {

/// bench_bulk(pieces, chunks, chunks_per_piece, chunk_bytes, stages): one thread of a block starts all
/// copies. It has `stages` buffers: two are written from, the others are read into. Needs compute
/// capability 9.0.
inline constexpr const char* kBulkKernel = R"(
.version 8.0
.target sm_90
.address_size 64
.extern .shared .align 128 .b8 buffers[];
.visible .entry bench_bulk(
  .param .u64 pieces,
  .param .u32 chunks,
  .param .u32 chunks_per_piece,
  .param .u32 chunk_bytes,
  .param .u32 stages
)
.maxntid 32, 1, 1
.minnctapersm 1
{
  .reg .pred %p<14>;
  .reg .b32 %r<86>;
  .reg .b64 %rd<23>;
  .shared .align 8 .b8 full[512];
  ld.param.u64 %rd4, [pieces];
  ld.param.u32 %r24, [chunks];
  ld.param.u32 %r25, [chunks_per_piece];
  ld.param.u32 %r26, [chunk_bytes];
  ld.param.u32 %r27, [stages];
  cvta.to.global.u64 %rd1, %rd4;
  mov.u32 %r28, %tid.x;
  setp.ne.s32 %p1, %r28, 0;
  @%p1 bra   step_15;
  setp.eq.s32 %p2, %r27, 0;
  @%p2 bra   step_4;
  mov.u32 %r78, 0;
  mov.u32 %r77, full;
step_3:
  .pragma "nounroll";
  mbarrier.init.shared::cta.b64 [%r77], 1;
  add.s32 %r77, %r77, 8;
  add.s32 %r78, %r78, 1;
  setp.lt.u32 %p3, %r78, %r27;
  @%p3 bra   step_3;
step_4:
  fence.proxy.async.shared::cta;
  mov.u32 %r84, %ctaid.x;
  setp.ge.u32 %p4, %r84, %r24;
  mov.u32 %r79, 0;
  @%p4 bra   step_6;
  mov.u32 %r33, %nctaid.x;
  not.b32 %r34, %r84;
  add.s32 %r35, %r33, %r34;
  add.s32 %r36, %r35, %r24;
  div.u32 %r79, %r36, %r33;
step_6:
  add.s32 %r82, %r27, -2;
  setp.eq.s32 %p5, %r82, 0;
  setp.eq.s32 %p6, %r79, 0;
  or.pred %p7, %p5, %p6;
  @%p7 bra   step_9;
  mov.u32 %r9, %nctaid.x;
  cvt.u64.u32 %rd2, %r26;
  mov.u32 %r81, 1;
  mov.u32 %r80, %r84;
step_8:
  .pragma "nounroll";
  div.u32 %r43, %r80, %r25;
  mul.wide.u32 %rd6, %r43, 24;
  add.s64 %rd7, %rd1, %rd6;
  mul.lo.s32 %r44, %r43, %r25;
  sub.s32 %r45, %r80, %r44;
  cvt.u64.u32 %rd8, %r45;
  mul.lo.s64 %rd9, %rd8, %rd2;
  ld.global.u64 %rd10, [%rd7+8];
  add.s64 %rd5, %rd9, %rd10;
  add.s32 %r46, %r81, -1;
  rem.u32 %r47, %r46, %r27;
  shl.b32 %r48, %r47, 3;
  mov.u32 %r49, full;
  add.s32 %r42, %r48, %r49;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r42], %r26;
  mov.u32 %r50, buffers;
  mad.lo.s32 %r40, %r47, %r26, %r50;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r40], [%rd5], %r26, [%r42];
  setp.lt.u32 %p8, %r81, %r79;
  setp.lt.u32 %p9, %r81, %r82;
  and.pred %p10, %p9, %p8;
  add.s32 %r81, %r81, 1;
  add.s32 %r80, %r80, %r9;
  @%p10 bra   step_8;
step_9:
  @%p6 bra   step_14;
  mov.u32 %r14, %nctaid.x;
  cvt.u64.u32 %rd3, %r26;
  mad.lo.s32 %r83, %r14, %r82, %r84;
  mov.u32 %r85, 0;
step_11:
  .pragma "nounroll";
  div.u32 %r56, %r85, %r27;
  mul.lo.s32 %r57, %r56, %r27;
  sub.s32 %r58, %r85, %r57;
  shl.b32 %r59, %r58, 3;
  mov.u32 %r60, full;
  add.s32 %r52, %r59, %r60;
  and.b32 %r53, %r56, 1;
  {
  .reg .pred done;
wait:
  mbarrier.try_wait.parity.shared::cta.b64 done, [%r52], %r53;
  @!done bra wait;
  }
  div.u32 %r61, %r84, %r25;
  mul.wide.u32 %rd12, %r61, 24;
  add.s64 %rd13, %rd1, %rd12;
  mul.lo.s32 %r62, %r61, %r25;
  sub.s32 %r63, %r84, %r62;
  cvt.u64.u32 %rd14, %r63;
  mul.lo.s64 %rd15, %rd14, %rd3;
  ld.global.u64 %rd16, [%rd13];
  add.s64 %rd11, %rd15, %rd16;
  mov.u32 %r64, buffers;
  mad.lo.s32 %r54, %r58, %r26, %r64;
  cp.async.bulk.global.shared::cta.bulk_group [%rd11], [%r54], %r26;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group.read 1;
  setp.ge.u32 %p12, %r82, %r79;
  @%p12 bra   step_13;
  div.u32 %r70, %r83, %r25;
  mul.wide.u32 %rd18, %r70, 24;
  add.s64 %rd19, %rd1, %rd18;
  mul.lo.s32 %r71, %r70, %r25;
  sub.s32 %r72, %r83, %r71;
  cvt.u64.u32 %rd20, %r72;
  mul.lo.s64 %rd21, %rd20, %rd3;
  ld.global.u64 %rd22, [%rd19+8];
  add.s64 %rd17, %rd21, %rd22;
  rem.u32 %r73, %r82, %r27;
  shl.b32 %r74, %r73, 3;
  add.s32 %r69, %r74, %r60;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r69], %r26;
  mad.lo.s32 %r67, %r73, %r26, %r64;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r67], [%rd17], %r26, [%r69];
step_13:
  add.s32 %r85, %r85, 1;
  add.s32 %r84, %r84, %r14;
  add.s32 %r83, %r83, %r14;
  add.s32 %r82, %r82, 1;
  setp.lt.u32 %p13, %r85, %r79;
  @%p13 bra   step_11;
step_14:
  cp.async.bulk.wait_group 0;
step_15:
  ret;
}
)";

}  // namespace bench
