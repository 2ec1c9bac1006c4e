// AddressSanitizer's view of the pool. To it a pool is one large block of which everything may be touched; telling it
// which bytes belong to a tensor makes it find what it finds in memory from malloc: writes past the end, use after
// free.
#pragma once

#include <cstddef>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GLASS_ADDRESS_SANITIZER 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define GLASS_ADDRESS_SANITIZER 1
#endif

#ifdef GLASS_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace glass {

#ifdef GLASS_ADDRESS_SANITIZER
constexpr size_t red_zone = 64;  // between a block and the next
inline void forbid(void* block, size_t bytes) { __asan_poison_memory_region(block, bytes); }
inline void allow(void* block, size_t bytes) { __asan_unpoison_memory_region(block, bytes); }
#else
constexpr size_t red_zone = 0;
inline void forbid(void*, size_t) {}
inline void allow(void*, size_t) {}
#endif

}  // namespace glass
