/* Placeholder for the compiler of operators, which is not offered: programs that include it compile. */
#ifndef SAMPAN_ACL_ACL_OP_COMPILER_H
#define SAMPAN_ACL_ACL_OP_COMPILER_H

#include "acl_op.h"

#endif /* SAMPAN_ACL_ACL_OP_COMPILER_H */
