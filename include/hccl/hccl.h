/* Collective operators of HCCL. They are queued in the stream, as copies are. */
#ifndef SAMPAN_HCCL_HCCL_H
#define SAMPAN_HCCL_HCCL_H

#include <stdint.h>

#include "acl/acl.h"
#include "hccl_comm.h"
#include "hccl_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Operators of one communicator are called in the same order on all its ranks. An operator begins on a rank
 * when its stream gets there. It ends when all ranks are done with that rank's buffers. A call never waits
 * for other ranks. Arrays of counts, displacements and items are read during the call; they hold elements.
 * Buffers are device memory. Reductions go by rank order, so all ranks get the same bits in every run. */

/** Combines the elements of all ranks, and gives the result to every rank. The buffers may be the same.
 * @param sendBuf count elements of this rank.
 * @param recvBuf Receives count elements.
 * @param count Number of elements. 0 does nothing.
 * @param dataType The type of the elements.
 * @param op HCCL_REDUCE_SUM, PROD, MAX or MIN.
 * @param comm A communicator whose device is current.
 * @param stream The stream, of the current context.
 * @async queued
 * @error HCCL_E_PTR comm, sendBuf, recvBuf or stream is NULL.
 * @error HCCL_E_PARA A count is more than 34,359,738,367. A buffer is not device memory of that size.
 * @error HCCL_E_NOT_SUPPORT The chip does not have the type or the operation, or not both together.
 * @error HCCL_E_SUSPENDING The communicator is suspended.
 * @error HCCL_E_REMOTE A rank is gone.
 * @error HCCL_E_RUNTIME The runtime refused the stream.
 */
HCCL_PUBLIC HcclResult HcclAllReduce(void* sendBuf, void* recvBuf, uint64_t count, HcclDataType dataType,
                                     HcclReduceOp op, HcclComm comm, aclrtStream stream);

/** Copies the elements of the root to every rank.
 * @param buf count elements: read on the root, written on the others.
 * @param count Number of elements. 0 does nothing.
 * @param dataType The type of the elements.
 * @param root The rank that has the elements.
 * @param comm A communicator whose device is current.
 * @param stream The stream, of the current context.
 * @async queued
 * @error HCCL_E_PTR stream, comm or buf is NULL.
 * @error HCCL_E_PARA A count is more than 34,359,738,367. root is not a rank. A buffer is not device memory
 *     of that size.
 * @error HCCL_E_NOT_SUPPORT The chip does not have the type.
 * @error HCCL_E_SUSPENDING The communicator is suspended.
 * @error HCCL_E_REMOTE A rank is gone.
 * @error HCCL_E_RUNTIME The runtime refused the stream.
 */
HCCL_PUBLIC HcclResult HcclBroadcast(void* buf, uint64_t count, HcclDataType dataType, uint32_t root,
                                     HcclComm comm, aclrtStream stream);

/** Combines the elements of all ranks, and gives each rank its block of the result.
 * @param sendBuf recvCount elements for each rank.
 * @param recvBuf Receives recvCount elements. It may be the own block of sendBuf.
 * @param recvCount Elements of a block. 0 does nothing.
 * @param dataType The type of the elements.
 * @param op HCCL_REDUCE_SUM, PROD, MAX or MIN.
 * @param comm A communicator whose device is current.
 * @param stream The stream, of the current context.
 * @async queued
 * @error HCCL_E_PTR stream, comm, sendBuf or recvBuf is NULL.
 * @error HCCL_E_PARA A count is more than 34,359,738,367. A buffer is not device memory of that size.
 * @error HCCL_E_NOT_SUPPORT The chip does not have the type or the operation, or not both together.
 * @error HCCL_E_SUSPENDING The communicator is suspended.
 * @error HCCL_E_REMOTE A rank is gone.
 * @error HCCL_E_RUNTIME The runtime refused the stream.
 */
HCCL_PUBLIC HcclResult HcclReduceScatter(void* sendBuf, void* recvBuf, uint64_t recvCount,
                                         HcclDataType dataType, HcclReduceOp op, HcclComm comm,
                                         aclrtStream stream);

/** HcclReduceScatter with blocks of different sizes.
 * @param sendBuf The blocks for all ranks. May be NULL if all counts are 0.
 * @param sendCounts uint64_t for each rank: elements of its block; the same on all ranks.
 * @param sendDispls uint64_t for each rank: where its block begins in sendBuf.
 * @param recvBuf Receives the own block. May be NULL if recvCount is 0.
 * @param recvCount Elements of the own block.
 * @param dataType The type of the elements.
 * @param op HCCL_REDUCE_SUM, MAX or MIN.
 * @param comm A communicator whose device is current.
 * @param stream The stream, of the current context.
 * @async queued
 * @error HCCL_E_PTR sendCounts, sendDispls, comm, stream or a buffer that is needed is NULL.
 * @error HCCL_E_PARA A count is more than 34,359,738,367. recvCount is not the own count. sendBuf is
 *     recvBuf. A buffer is not device memory of that size.
 * @error HCCL_E_NOT_SUPPORT The chip does not have the type or the operation, or not both together.
 * @error HCCL_E_SUSPENDING The communicator is suspended.
 * @error HCCL_E_REMOTE A rank is gone.
 * @error HCCL_E_RUNTIME The runtime refused the stream.
 */
HCCL_PUBLIC HcclResult HcclReduceScatterV(void* sendBuf, const void* sendCounts, const void* sendDispls,
                                          void* recvBuf, uint64_t recvCount, HcclDataType dataType,
                                          HcclReduceOp op, HcclComm comm, aclrtStream stream);

/** Gives each rank its block of the elements of the root.
 * @param sendBuf On the root, recvCount elements for each rank. Ignored on the others.
 * @param recvBuf Receives recvCount elements.
 * @param recvCount Elements of a block. 0 does nothing.
 * @param dataType The type of the elements.
 * @param root The rank that has the elements.
 * @param comm A communicator whose device is current.
 * @param stream The stream, of the current context.
 * @async queued
 * @error HCCL_E_PTR comm, recvBuf or stream, or sendBuf on the root is NULL.
 * @error HCCL_E_PARA A count is more than 34,359,738,367. root is not a rank. A buffer is not device memory
 *     of that size.
 * @error HCCL_E_NOT_SUPPORT The chip does not have the type.
 * @error HCCL_E_SUSPENDING The communicator is suspended.
 * @error HCCL_E_REMOTE A rank is gone.
 * @error HCCL_E_RUNTIME The runtime refused the stream.
 */
HCCL_PUBLIC HcclResult HcclScatter(void* sendBuf, void* recvBuf, uint64_t recvCount, HcclDataType dataType,
                                   uint32_t root, HcclComm comm, aclrtStream stream);

/** Gathers the blocks of all ranks, in rank order, on every rank.
 * @param sendBuf sendCount elements of this rank. It may be the own block of recvBuf.
 * @param recvBuf Receives sendCount elements of each rank.
 * @param sendCount Elements of a block. 0 does nothing.
 * @param dataType The type of the elements.
 * @param comm A communicator whose device is current.
 * @param stream The stream, of the current context.
 * @async queued
 * @error HCCL_E_PTR comm, sendBuf, recvBuf or stream is NULL.
 * @error HCCL_E_PARA A count is more than 34,359,738,367. A buffer is not device memory of that size.
 * @error HCCL_E_NOT_SUPPORT The chip does not have the type.
 * @error HCCL_E_SUSPENDING The communicator is suspended.
 * @error HCCL_E_REMOTE A rank is gone.
 * @error HCCL_E_RUNTIME The runtime refused the stream.
 */
HCCL_PUBLIC HcclResult HcclAllGather(void* sendBuf, void* recvBuf, uint64_t sendCount, HcclDataType dataType,
                                     HcclComm comm, aclrtStream stream);

/** HcclAllGather with blocks of different sizes.
 * @param sendBuf The own block. May be NULL if sendCount is 0.
 * @param sendCount Elements of the own block.
 * @param recvBuf Receives the blocks of all ranks. May be NULL if all counts are 0.
 * @param recvCounts uint64_t for each rank: elements of its block; the same on all ranks.
 * @param recvDispls uint64_t for each rank: where its block begins in recvBuf.
 * @param dataType The type of the elements.
 * @param comm A communicator whose device is current.
 * @param stream The stream, of the current context.
 * @async queued
 * @error HCCL_E_PTR recvCounts, recvDispls, comm, stream or a buffer that is needed is NULL.
 * @error HCCL_E_PARA A count is more than 34,359,738,367. sendCount is not the own count. sendBuf is
 *     recvBuf. A buffer is not device memory of that size.
 * @error HCCL_E_NOT_SUPPORT The chip does not have the type.
 * @error HCCL_E_SUSPENDING The communicator is suspended.
 * @error HCCL_E_REMOTE A rank is gone.
 * @error HCCL_E_RUNTIME The runtime refused the stream.
 */
HCCL_PUBLIC HcclResult HcclAllGatherV(void* sendBuf, uint64_t sendCount, void* recvBuf,
                                      const void* recvCounts, const void* recvDispls, HcclDataType dataType,
                                      HcclComm comm, aclrtStream stream);

/** Combines the elements of all ranks, and gives the result to the root. Other ranks keep their recvBuf as
 * it is.
 * @param sendBuf count elements of this rank.
 * @param recvBuf Receives count elements on the root. It must not be NULL on any rank.
 * @param count Number of elements. 0 does nothing.
 * @param dataType The type of the elements.
 * @param op HCCL_REDUCE_SUM, PROD, MAX or MIN.
 * @param root The rank that gets the result.
 * @param comm A communicator whose device is current.
 * @param stream The stream, of the current context.
 * @async queued
 * @error HCCL_E_PTR comm, sendBuf, recvBuf or stream is NULL.
 * @error HCCL_E_PARA A count is more than 34,359,738,367. root is not a rank. A buffer is not device memory
 *     of that size.
 * @error HCCL_E_NOT_SUPPORT The chip does not have the type or the operation, or not both together.
 * @error HCCL_E_SUSPENDING The communicator is suspended.
 * @error HCCL_E_REMOTE A rank is gone.
 * @error HCCL_E_RUNTIME The runtime refused the stream.
 */
HCCL_PUBLIC HcclResult HcclReduce(void* sendBuf, void* recvBuf, uint64_t count, HcclDataType dataType,
                                  HcclReduceOp op, uint32_t root, HcclComm comm, aclrtStream stream);

/** Sends elements to a rank that receives them with HcclRecv or HcclBatchSendRecv. The stream continues
 * when they have arrived. The k-th send to a rank pairs with its k-th receipt.
 * @param sendBuf count elements.
 * @param count Number of elements. 0 does nothing, and pairs with nothing.
 * @param dataType The type of the elements.
 * @param destRank The receiving rank.
 * @param comm A communicator whose device is current.
 * @param stream The stream, of the current context.
 * @async queued
 * @error HCCL_E_PTR comm, sendBuf or stream is NULL.
 * @error HCCL_E_PARA A count is more than 34,359,738,367. destRank is not a rank. A buffer is not device
 *     memory of that size.
 * @error HCCL_E_NOT_SUPPORT The chip does not have the type, or destRank is this rank.
 * @error HCCL_E_SUSPENDING The communicator is suspended.
 * @error HCCL_E_REMOTE A rank is gone.
 * @error HCCL_E_RUNTIME The runtime refused the stream.
 */
HCCL_PUBLIC HcclResult HcclSend(void* sendBuf, uint64_t count, HcclDataType dataType, uint32_t destRank,
                                HcclComm comm, aclrtStream stream);

/** Receives elements that a rank sends with HcclSend or HcclBatchSendRecv.
 * @param recvBuf Receives count elements.
 * @param count Number of elements; the same as that of the sender. 0 does nothing, and pairs with nothing.
 * @param dataType The type of the elements.
 * @param srcRank The sending rank.
 * @param comm A communicator whose device is current.
 * @param stream The stream, of the current context.
 * @async queued
 * @error HCCL_E_PTR comm, recvBuf or stream is NULL.
 * @error HCCL_E_PARA A count is more than 34,359,738,367. srcRank is not a rank. A buffer is not device
 *     memory of that size.
 * @error HCCL_E_NOT_SUPPORT The chip does not have the type, or srcRank is this rank.
 * @error HCCL_E_SUSPENDING The communicator is suspended.
 * @error HCCL_E_REMOTE A rank is gone.
 * @error HCCL_E_RUNTIME The runtime refused the stream.
 */
HCCL_PUBLIC HcclResult HcclRecv(void* recvBuf, uint64_t count, HcclDataType dataType, uint32_t srcRank,
                                HcclComm comm, aclrtStream stream);

/** Sends a block to every rank, and receives one from every rank.
 * @param sendBuf sendCount elements for each rank.
 * @param sendCount Elements of a block.
 * @param sendType The type of the elements.
 * @param recvBuf Receives recvCount elements from each rank. It is written although it is const.
 * @param recvCount The same as sendCount.
 * @param recvType The same as sendType.
 * @param comm A communicator whose device is current.
 * @param stream The stream, of the current context.
 * @async queued
 * @error HCCL_E_PTR sendBuf, recvBuf, stream or comm is NULL.
 * @error HCCL_E_PARA sendCount differs from recvCount, or sendType from recvType. sendBuf is recvBuf. A
 *     count is more than 34,359,738,367. A buffer is not device memory of that size.
 * @error HCCL_E_NOT_SUPPORT The chip does not have the type.
 * @error HCCL_E_SUSPENDING The communicator is suspended.
 * @error HCCL_E_REMOTE A rank is gone.
 * @error HCCL_E_RUNTIME The runtime refused the stream.
 */
HCCL_PUBLIC HcclResult HcclAlltoAll(const void* sendBuf, uint64_t sendCount, HcclDataType sendType,
                                    const void* recvBuf, uint64_t recvCount, HcclDataType recvType,
                                    HcclComm comm, aclrtStream stream);

/** HcclAlltoAll with blocks of different sizes.
 * @param sendBuf The blocks for all ranks. May be NULL if all sendCounts are 0.
 * @param sendCounts uint64_t for each rank: elements for it.
 * @param sdispls uint64_t for each rank: where they begin in sendBuf.
 * @param sendType The type of the elements.
 * @param recvBuf Receives the blocks of all ranks. May be NULL if all recvCounts are 0. It is written
 *     although it is const.
 * @param recvCounts uint64_t for each rank: elements from it.
 * @param rdispls uint64_t for each rank: where they begin in recvBuf.
 * @param recvType The same as sendType.
 * @param comm A communicator whose device is current.
 * @param stream The stream, of the current context.
 * @async queued
 * @error HCCL_E_PTR An array, stream, comm or a buffer that is needed is NULL.
 * @error HCCL_E_PARA A count is more than 34,359,738,367. sendType differs from recvType. sendBuf is
 *     recvBuf. A buffer is not device memory of that size.
 * @error HCCL_E_NOT_SUPPORT The chip does not have the type.
 * @error HCCL_E_SUSPENDING The communicator is suspended.
 * @error HCCL_E_REMOTE A rank is gone.
 * @error HCCL_E_RUNTIME The runtime refused the stream.
 */
HCCL_PUBLIC HcclResult HcclAlltoAllV(const void* sendBuf, const void* sendCounts, const void* sdispls,
                                     HcclDataType sendType, const void* recvBuf, const void* recvCounts,
                                     const void* rdispls, HcclDataType recvType, HcclComm comm,
                                     aclrtStream stream);

/** HcclAlltoAllV with the counts of all ranks in a matrix. The blocks lie one after the other.
 * @param sendBuf The blocks for all ranks. May be NULL if this rank sends nothing.
 * @param sendCountMatrix uint64_t [rank size][rank size]: [i][j] elements from i to j; the same on all
 *     ranks.
 * @param sendType The type of the elements.
 * @param recvBuf Receives the blocks of all ranks. May be NULL if this rank receives nothing. It is written
 *     although it is const.
 * @param recvType The same as sendType.
 * @param comm A communicator whose device is current.
 * @param stream The stream, of the current context.
 * @async queued
 * @error HCCL_E_PTR sendCountMatrix, stream, comm or a buffer that is needed is NULL.
 * @error HCCL_E_PARA A count is more than 34,359,738,367. sendType differs from recvType. sendBuf is
 *     recvBuf. A buffer is not device memory of that size.
 * @error HCCL_E_NOT_SUPPORT The chip does not have the type.
 * @error HCCL_E_SUSPENDING The communicator is suspended.
 * @error HCCL_E_REMOTE A rank is gone.
 * @error HCCL_E_RUNTIME The runtime refused the stream.
 */
HCCL_PUBLIC HcclResult HcclAlltoAllVC(const void* sendBuf, const void* sendCountMatrix, HcclDataType sendType,
                                      const void* recvBuf, HcclDataType recvType, HcclComm comm,
                                      aclrtStream stream);

/** Sends and receives several pieces at once: no item waits for another one. Items to this rank itself are
 * paired in their order.
 * @param sendRecvInfo The items.
 * @param itemNum Number of items. 0 does nothing.
 * @param comm A communicator whose device is current.
 * @param stream The stream, of the current context.
 * @async queued
 * @error HCCL_E_PTR comm, stream, sendRecvInfo or a buf is NULL.
 * @error HCCL_E_PARA A count is more than 34,359,738,367. A sendRecvType is unknown, or a remoteRank is not
 *     a rank. Items to this rank itself have no partner, or differ from it. A buffer is not device memory
 *     of that size.
 * @error HCCL_E_NOT_SUPPORT The chip does not have the type.
 * @error HCCL_E_SUSPENDING The communicator is suspended.
 * @error HCCL_E_REMOTE A rank is gone.
 * @error HCCL_E_RUNTIME The runtime refused the stream.
 */
HCCL_PUBLIC HcclResult HcclBatchSendRecv(HcclSendRecvItem* sendRecvInfo, uint32_t itemNum, HcclComm comm,
                                         aclrtStream stream);

/** Holds the stream until the streams of all ranks are here.
 * @param comm A communicator whose device is current.
 * @param stream The stream, of the current context.
 * @async queued
 * @error HCCL_E_PTR comm or stream is NULL.
 * @error HCCL_E_PARA comm is not a communicator.
 * @error HCCL_E_SUSPENDING The communicator is suspended.
 * @error HCCL_E_REMOTE A rank is gone.
 * @error HCCL_E_RUNTIME The runtime refused the stream.
 */
HCCL_PUBLIC HcclResult HcclBarrier(HcclComm comm, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif /* SAMPAN_HCCL_HCCL_H */
