/* Placeholder for operators by name, which are not offered: programs that include it compile. */
#ifndef SAMPAN_ACLNN_ACLNN_BASE_H
#define SAMPAN_ACLNN_ACLNN_BASE_H

#include "acl_meta.h"

#endif /* SAMPAN_ACLNN_ACLNN_BASE_H */
