"""Offloads chosen blocks of a KV cache to host memory and brings them back, with pyACL's calls and numpy."""
import acl
import numpy as np

LAYERS, BLOCKS, BLOCK_BYTES, CHOSEN = 8, 64, 16 << 10, 20
H2D, D2H, HUGE_FIRST = 1, 2, 0


def check(*result):
    *values, ret = result[0] if isinstance(result[0], tuple) else result
    if ret != 0:
        raise RuntimeError(f"code {ret}: {acl.get_recent_err_msg()}")
    return values[0] if values else None


check(acl.rt.set_device(0))
stream = check(acl.rt.create_stream())
rng = np.random.default_rng(1)
cache = rng.integers(0, 256, (LAYERS, BLOCKS, BLOCK_BYTES), dtype=np.uint8)
device = check(acl.rt.malloc(cache.nbytes, HUGE_FIRST))
check(acl.rt.memcpy(device, cache.nbytes, cache.ctypes.data, cache.nbytes, H2D))
bytes_out = LAYERS * CHOSEN * BLOCK_BYTES
pinned = check(acl.rt.malloc_host(bytes_out))  # pageable memory would make each copy wait for the stream
chosen = [(layer, int(block)) for layer in range(LAYERS) for block in rng.permutation(BLOCKS)[:CHOSEN]]
pairs = [(device + (layer * BLOCKS + block) * BLOCK_BYTES, pinned + i * BLOCK_BYTES) for i, (layer, block) in enumerate(chosen)]

for on_device, on_host in pairs:  # offload: block after block, in stream order
    check(acl.rt.memcpy_async(on_host, BLOCK_BYTES, on_device, BLOCK_BYTES, D2H, stream))
check(acl.rt.memset_async(device, cache.nbytes, 0xEE, cache.nbytes, stream))  # another request uses the blocks
for on_device, on_host in pairs:  # and back
    check(acl.rt.memcpy_async(on_device, BLOCK_BYTES, on_host, BLOCK_BYTES, H2D, stream))
check(acl.rt.synchronize_stream(stream))

found = np.empty_like(cache)
check(acl.rt.memcpy(found.ctypes.data, cache.nbytes, device, cache.nbytes, D2H))
expected = np.full_like(cache, 0xEE)
for layer, block in chosen:
    expected[layer, block] = cache[layer, block]
assert (found == expected).all(), "a block lost bytes"
print(f"OK, {2 * bytes_out} bytes of {len(chosen)} blocks moved out and back and compared")
