/* Linked without any shared library. */
int main(void) {
  return 3;
}
