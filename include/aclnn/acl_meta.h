/* Types of operators by name, which are not offered: programs that include it compile. */
#ifndef SAMPAN_ACLNN_ACL_META_H
#define SAMPAN_ACLNN_ACL_META_H

#include <stddef.h>
#include <stdint.h>

#include "../acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct aclOpExecutor aclOpExecutor;
typedef struct aclTensor aclTensor;
typedef struct aclScalar aclScalar;
typedef struct aclIntArray aclIntArray;
typedef struct aclFloatArray aclFloatArray;
typedef struct aclBoolArray aclBoolArray;
typedef struct aclTensorList aclTensorList;
typedef struct aclScalarList aclScalarList;

typedef int32_t aclnnStatus;

#ifdef __cplusplus
}
#endif

#endif /* SAMPAN_ACLNN_ACL_META_H */
