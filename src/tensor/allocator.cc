#include "tensor/allocator.h"

#include <sys/mman.h>

#include <bit>
#include <cstdlib>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "glassformer/base/error.h"
#include "glassformer/tensor/tensor.h"

namespace glass {

namespace {

constexpr size_t alignment = 64;
constexpr size_t huge_page = size_t{2} << 20;

// Eight sizes for each power of two: at most an eighth is wasted, and sizes that differ little share blocks.
size_t size_class(size_t bytes) {
  if (bytes <= 512) return (bytes + alignment - 1) / alignment * alignment;
  const size_t step = std::bit_floor(bytes - 1) / 8;
  return (bytes + step - 1) / step * step;
}

struct Cache {
  std::mutex mutex;
  std::unordered_map<size_t, std::vector<void*>> free_blocks;
  MemoryUse use;
};

// Never destroyed: tensors with static lifetime may outlive any order of destruction.
Cache& cache() {
  static Cache* instance = new Cache;
  return *instance;
}

void free_all(Cache& c) {
  for (auto& [size, blocks] : c.free_blocks) {
    for (void* block : blocks) std::free(block);
  }
  c.free_blocks.clear();
}

void* allocate(size_t capacity) {
  const size_t align = capacity >= huge_page ? huge_page : alignment;
  void* block = std::aligned_alloc(align, (capacity + align - 1) / align * align);
  if (block != nullptr && align == huge_page) madvise(block, capacity, MADV_HUGEPAGE);  // a hint; failing is harmless
  return block;
}

}  // namespace

void* acquire_block(size_t bytes, size_t& capacity) {
  capacity = size_class(bytes == 0 ? 1 : bytes);
  Cache& c = cache();
  const std::lock_guard lock(c.mutex);
  void* block = nullptr;
  if (auto found = c.free_blocks.find(capacity); found != c.free_blocks.end() && !found->second.empty()) {
    block = found->second.back();
    found->second.pop_back();
  } else {
    block = allocate(capacity);
    if (block == nullptr) {
      free_all(c);
      block = allocate(capacity);
    }
    if (block == nullptr) {
      throw SystemError("out of memory: a tensor of " + std::to_string(bytes) + " bytes does not fit beside the " +
                        std::to_string(c.use.current) + " in use");
    }
  }
  c.use.current += capacity;
  c.use.peak = std::max(c.use.peak, c.use.current);
  return block;
}

void release_block(void* block, size_t capacity) noexcept {
  Cache& c = cache();
  const std::lock_guard lock(c.mutex);
  c.use.current -= capacity;
  try {
    c.free_blocks[capacity].push_back(block);
  } catch (...) {
    std::free(block);  // no memory to remember it by
  }
}

void release_cached_memory() {
  Cache& c = cache();
  const std::lock_guard lock(c.mutex);
  free_all(c);
}

MemoryUse memory_use() {
  Cache& c = cache();
  const std::lock_guard lock(c.mutex);
  return c.use;
}

void reset_peak_memory() {
  Cache& c = cache();
  const std::lock_guard lock(c.mutex);
  c.use.peak = c.use.current;
}

}  // namespace glass
