/* A strict C11 program that holds the public headers to the layouts, values and prototypes of the interface.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "all_headers.h"

#define TYPE(type, size, alignment)                         \
  _Static_assert(sizeof(type) == (size), "size of " #type); \
  _Static_assert(_Alignof(type) == (alignment), "alignment of " #type);
#define FIELD(type, member, offset, size)                                         \
  _Static_assert(offsetof(type, member) == (offset), "offset of " #type #member); \
  _Static_assert(sizeof(((type*)0)->member) == (size), "size of " #type #member);
#include "layout_facts.inc"
#undef TYPE
#undef FIELD

#define CODE(name, value)
#define VALUE(name, value) _Static_assert((name) == (value), #name);
#include "code_facts.inc"
#include "constant_facts.inc"
#undef CODE
#undef VALUE

#include "prototype_facts.inc"

/* In C the outer codes are objects, not constants, so they are compared at run time. */
struct code_fact {
  const char* name;
  int64_t actual;
  int64_t expected;
};

static int CheckCodes(void) {
#define CODE(name, value) {#name, (name), (value)},
#define VALUE(name, value) {#name, (name), (value)},
  const struct code_fact facts[] = {
#include "code_facts.inc"
  };
#undef CODE
#undef VALUE
  int wrong = 0;
  for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); ++i) {
    if (facts[i].actual != facts[i].expected) {
      printf("%s is %lld\n", facts[i].name, (long long)facts[i].actual);
      ++wrong;
    }
  }
  return wrong;
}

int main(void) {
  ACL_APP_LOG(ACL_INFO, "one argument");
  ACL_APP_LOG(ACL_INFO, "%s and %d", "more", 2);
  return CheckCodes() == 0 ? 0 : 1;
}
