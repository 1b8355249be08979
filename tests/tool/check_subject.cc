// A program whose places the tests of `sampan check` name: it is built with -O2 and never run.
namespace pool {

struct Pool {
  template <typename T>
  __attribute__((noinline)) void Refill(T* staging);
};

static inline __attribute__((always_inline)) void Touch(char* staging) {
  *staging = 1;
  __asm__ volatile(".globl place_inlined\nplace_inlined:\n nop");  // place: inlined
}

template <typename T>
void Pool::Refill(T* staging) {
  *staging = 0;
  Touch(staging);  // place: caller
}
template void Pool::Refill<char>(char* staging);

}  // namespace pool

int main() {
  char staging = 2;
  pool::Pool().Refill(&staging);
  __asm__ volatile(".globl place_main\nplace_main:\n nop");  // place: main
  return staging;
}
