/* Umbrella of the public interface: the runtime, plus the headers that programs expect beside it. */
#ifndef SAMPAN_ACL_ACL_H
#define SAMPAN_ACL_ACL_H

#include "acl_mdl.h"
#include "acl_op.h"
#include "acl_rt.h"

#endif /* SAMPAN_ACL_ACL_H */
