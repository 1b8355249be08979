/* Placeholder for image processing, which is not offered: programs that include it compile. */
#ifndef SAMPAN_ACL_OPS_ACL_DVPP_H
#define SAMPAN_ACL_OPS_ACL_DVPP_H

#include "../acl_base.h"
#include "../acl_rt.h"

#endif /* SAMPAN_ACL_OPS_ACL_DVPP_H */
