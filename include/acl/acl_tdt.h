/* Placeholder for tensor channels, which are not offered: programs that include it compile. */
#ifndef SAMPAN_ACL_ACL_TDT_H
#define SAMPAN_ACL_ACL_TDT_H

#include "acl_base.h"

#endif /* SAMPAN_ACL_ACL_TDT_H */
