/* The program on HCCL's public headers, as a source. */
#include "hccl_consumer.h"
