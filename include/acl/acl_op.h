/* Placeholder for the operator interface, which is not offered: programs that include it compile. */
#ifndef SAMPAN_ACL_ACL_OP_H
#define SAMPAN_ACL_ACL_OP_H

#include "acl_base.h"

#endif /* SAMPAN_ACL_ACL_OP_H */
