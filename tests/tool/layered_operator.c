/* An operator of a user's, in a library as the vendor's tools make it (libcust_opapi.so). */
__attribute__((visibility("default"))) int aclnnMyOperator(void);
int aclnnMyOperator(void) {
  return 0;
}
