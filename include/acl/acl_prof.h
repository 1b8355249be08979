/* Placeholder for profiling, which is not offered: programs that include it compile. */
#ifndef SAMPAN_ACL_ACL_PROF_H
#define SAMPAN_ACL_ACL_PROF_H

#include "acl_base.h"

#endif /* SAMPAN_ACL_ACL_PROF_H */
