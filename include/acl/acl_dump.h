/* Placeholder for dumps of operators, which are never made: programs that include it compile. */
#ifndef SAMPAN_ACL_ACL_DUMP_H
#define SAMPAN_ACL_ACL_DUMP_H

#include "acl_rt.h"

#endif /* SAMPAN_ACL_ACL_DUMP_H */
