/* A libhccl of another release, for linking alone: the second function is none of ours. */
__attribute__((visibility("default"))) int HcclGetRankSize(void);
int HcclGetRankSize(void) {
  return 0;
}
__attribute__((visibility("default"))) int HcclCreateComResource(void);
int HcclCreateComResource(void) {
  return 0;
}
