/* Every public header at once, as the consumers of this folder include them. */
#pragma once

#include "acl/acl.h"
#include "acl/acl_base.h"
#include "acl/acl_base_mdl.h"
#include "acl/acl_base_rt.h"
#include "acl/acl_mdl.h"
#include "acl/acl_op.h"
#include "acl/acl_rt.h"
#include "acl/acl_rt_allocator.h"
#include "acl/acl_rt_health.h"
#include "acl/acl_rt_kernel.h"
#include "acl/acl_rt_memory_soma.h"
#include "acl/acl_rt_model.h"
#include "acl/acl_rt_settings.h"
#include "acl/error_codes/ge_error_codes.h"
#include "acl/error_codes/rt_error_codes.h"
