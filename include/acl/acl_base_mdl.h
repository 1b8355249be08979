/* Tensor descriptions, by name only: there are no tensors here. Programs that declare or link them build. */
#ifndef SAMPAN_ACL_ACL_BASE_MDL_H
#define SAMPAN_ACL_ACL_BASE_MDL_H

#include <stddef.h>
#include <stdint.h>

#include "acl_base_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct aclTensorDesc aclTensorDesc;

/* The smallest and the largest extent of one dimension. */
#define ACL_TENSOR_SHAPE_RANGE_NUM 2
typedef int64_t aclTensorShapeRange[ACL_TENSOR_SHAPE_RANGE_NUM];

/* All of these answer that they are not supported: 207000, NULL or an undefined value. */
ACL_FUNC_VISIBILITY aclTensorDesc* aclCreateTensorDesc(aclDataType dataType, int numDims, const int64_t* dims,
                                                       aclFormat format);
ACL_FUNC_VISIBILITY void aclDestroyTensorDesc(const aclTensorDesc* desc);
ACL_FUNC_VISIBILITY aclDataType aclGetTensorDescType(const aclTensorDesc* desc);
ACL_FUNC_VISIBILITY aclFormat aclGetTensorDescFormat(const aclTensorDesc* desc);
ACL_FUNC_VISIBILITY size_t aclGetTensorDescNumDims(const aclTensorDesc* desc);
ACL_FUNC_VISIBILITY int64_t aclGetTensorDescDim(const aclTensorDesc* desc, size_t index);
ACL_FUNC_VISIBILITY aclError aclGetTensorDescDimV2(const aclTensorDesc* desc, size_t index, int64_t* dimSize);
ACL_FUNC_VISIBILITY const char* aclGetTensorDescName(aclTensorDesc* desc);
ACL_FUNC_VISIBILITY void aclSetTensorDescName(aclTensorDesc* desc, const char* name);
ACL_FUNC_VISIBILITY aclError aclSetTensorFormat(aclTensorDesc* desc, aclFormat format);
ACL_FUNC_VISIBILITY aclError aclSetTensorPlaceMent(aclTensorDesc* desc, aclMemType memType);
ACL_FUNC_VISIBILITY aclError aclSetTensorShape(aclTensorDesc* desc, int numDims, const int64_t* dims);
ACL_FUNC_VISIBILITY aclError aclSetTensorShapeRange(aclTensorDesc* desc, size_t dimsCount,
                                                    aclTensorShapeRange* dimsRange);

#ifdef __cplusplus
}
#endif

#endif /* SAMPAN_ACL_ACL_BASE_MDL_H */
