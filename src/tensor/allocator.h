// The allocator behind every tensor: freed blocks are kept and handed out again, so that the steady state of training
// asks the system for nothing and touches no fresh page.
#pragma once

#include <cstddef>

namespace glass {

// 64-byte aligned. `capacity` is what was taken, at least `bytes`; give it back to release_block(). Throws SystemError
// saying how much was asked. Thread-safe.
void* acquire_block(size_t bytes, size_t& capacity);
void release_block(void* block, size_t capacity) noexcept;

// Bytes taken from the system, in use or kept for reuse.
size_t held_memory();

}  // namespace glass
