/* Placeholder for the base types of models, which are not offered: programs that include it compile. */
#ifndef SAMPAN_ACL_ACL_BASE_MDL_H
#define SAMPAN_ACL_ACL_BASE_MDL_H

#include "acl_base_rt.h"

#endif /* SAMPAN_ACL_ACL_BASE_MDL_H */
