/* Calls the runtime by a library of its own, an operator by another, and HCCL itself. Never run. */
#include "acl/acl.h"

extern aclError StartKernel(void);
extern int aclnnMyOperator(void);
extern int HcclGetRankSize(void*, unsigned*);
extern int HcclCreateComResource(void*, void*, unsigned long, unsigned long, unsigned long);

int main(void) {
  unsigned ranks = 0;
  return (int)StartKernel() + aclnnMyOperator() + HcclGetRankSize(0, &ranks) +
         HcclCreateComResource(0, &ranks, 0, 0, 0) + aclrtFree(0);
}
