/* A program on HCCL's public headers, as C and as C++: values, layouts, and a communicator of one rank. */
#ifdef HCCL_WITHOUT_FOLDER
#include <hccl.h>
#else
#include <hccl/hccl.h>
#endif

#include <stdio.h>
#include <string.h>

#ifdef __cplusplus
#define FACT(fact) static_assert(fact, #fact)
#else
#define FACT(fact) _Static_assert(fact, #fact)
#endif

FACT(sizeof(HcclRootInfo) == 4108);
FACT(HCCL_ROOT_INFO_BYTES == 4108);
FACT(sizeof(HcclSendRecvItem) == 32);
FACT(offsetof(HcclSendRecvItem, buf) == 8);
FACT(offsetof(HcclSendRecvItem, count) == 16);
FACT(offsetof(HcclSendRecvItem, dataType) == 24);
FACT(offsetof(HcclSendRecvItem, remoteRank) == 28);
FACT(sizeof(HcclCommConfig) == 2248);
FACT(offsetof(HcclCommConfig, hcclBufferSize) == 24);
FACT(offsetof(HcclCommConfig, hcclDeterministic) == 28);
FACT(offsetof(HcclCommConfig, hcclCommName) == 32);
FACT(offsetof(HcclCommConfig, hcclUdi) == 160);
FACT(offsetof(HcclCommConfig, hcclOpExpansionMode) == 288);
FACT(offsetof(HcclCommConfig, hcclRdmaTrafficClass) == 292);
FACT(offsetof(HcclCommConfig, hcclRdmaServiceLevel) == 296);
FACT(offsetof(HcclCommConfig, hcclWorldRankID) == 300);
FACT(offsetof(HcclCommConfig, hcclJobID) == 304);
FACT(offsetof(HcclCommConfig, aclGraphZeroCopyEnable) == 312);
FACT(offsetof(HcclCommConfig, hcclExecTimeOut) == 316);
FACT(offsetof(HcclCommConfig, hcclAlgo) == 320);
FACT(offsetof(HcclCommConfig, hcclRetryEnable) == 1920);
FACT(offsetof(HcclCommConfig, hcclRetryParams) == 1970);
FACT(offsetof(HcclCommConfig, hcclBufferName) == 2098);
FACT(offsetof(HcclCommConfig, hcclQos) == 2228);
FACT(offsetof(HcclCommConfig, hcclSymWinMaxMemSizePerRank) == 2232);
FACT(offsetof(HcclCommConfig, hcclChannelSqDepth) == 2240);
FACT(HCCL_COMM_CONFIG_BUFFER_NAME == 11 && HCCL_COMM_CONFIG_RESERVED == 12);
FACT(HCCL_SEND == 0 && HCCL_RECV == 1 && HCCL_SEND_RECV_RESERVED == 2);
FACT(HCCL_E_SUSPENDING == 22 && HCCL_E_RESERVED == 1042);

#define CHECK(call)                                                       \
  do {                                                                    \
    const int answer = (int)(call);                                       \
    if (answer != 0) {                                                    \
      printf("%s answers %d: %s\n", #call, answer, aclGetRecentErrMsg()); \
      return 1;                                                           \
    }                                                                     \
  } while (0)

int main(void) {
  HcclCommConfig config;
  HcclRootInfo info;
  HcclComm comm = NULL;
  aclrtStream stream = NULL;
  void* memory = NULL;
  union HcclConfigValue value;
  char text[8] = "wrong";
  /* A program tests whether an older library has the function, because its symbol is weak. */
  if (HcclCommInitRootInfoConfig == NULL || HcclGetCommConfigCapability() <= HCCL_COMM_CONFIG_COMM_NAME)
    return 2;
  CHECK(aclrtSetDevice(0));
  CHECK(aclrtCreateStream(&stream));
  CHECK(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(aclrtMemcpy(memory, 64, "right", 6, ACL_MEMCPY_HOST_TO_DEVICE));
  HcclCommConfigInit(NULL);
  HcclCommConfigInit(&config);
  if (config.hcclExecTimeOut != -1 || config.hcclQos != 0xffffffff) return 3;
  strcpy(config.hcclCommName, "consumer");
  value.value = 1;
  CHECK(HcclSetConfig(HCCL_DETERMINISTIC, value));
  CHECK(HcclGetRootInfo(&info));
  CHECK(HcclCommInitRootInfoConfig(1, &info, 0, &config, &comm));
  CHECK(HcclAllGather(memory, (char*)memory + 32, 6, HCCL_DATA_TYPE_INT8, comm, stream));
  CHECK(aclrtSynchronizeStream(stream));
  CHECK(aclrtMemcpy(text, 6, (char*)memory + 32, 6, ACL_MEMCPY_DEVICE_TO_HOST));
  CHECK(HcclCommDestroy(comm));
  CHECK(aclrtFree(memory));
  CHECK(aclrtDestroyStream(stream));
  return strcmp(text, "right") == 0 ? 0 : 4;
}
