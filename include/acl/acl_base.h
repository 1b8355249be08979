/* Base types and every error code, gathered for the headers above. */
#ifndef SAMPAN_ACL_ACL_BASE_H
#define SAMPAN_ACL_ACL_BASE_H

#include "acl_base_mdl.h"
#include "acl_base_rt.h"
#include "error_codes/ge_error_codes.h"
#include "error_codes/rt_error_codes.h"

#endif /* SAMPAN_ACL_ACL_BASE_H */
