#include "tensor/allocator.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "glassformer/base/error.h"
#include "glassformer/tensor/tensor.h"
#include "tensor/sanitizer.h"

namespace glass {

namespace {

constexpr size_t alignment = 64;
constexpr size_t huge_page = size_t{2} << 20;
constexpr size_t least_segment = size_t{64} << 20;

size_t rounded_up(size_t bytes, size_t multiple) { return (bytes + multiple - 1) / multiple * multiple; }

// Best fit within large segments; free neighbours are joined, so that batches of ever other shapes share the same
// memory.
class Pool {
 public:
  char* take(size_t size) {
    auto fit = by_size_.lower_bound({size, nullptr});
    if (fit == by_size_.end()) {
      // Empty segments that are too small would otherwise pile up while requests grow.
      release_unused();
      add_segment(size);
      fit = by_size_.lower_bound({size, nullptr});
    }
    const auto [held, block] = *fit;
    by_size_.erase(fit);
    by_address_.erase(block);
    if (held > size) insert(block + size, held - size);
    return block;
  }

  void give_back(char* block, size_t size) {
    auto next = by_address_.lower_bound(block);
    if (next != by_address_.end() && next->first == block + size && segments_.count(next->first) == 0) {
      size += next->second;
      next = remove(next);
    }
    if (next != by_address_.begin() && segments_.count(block) == 0) {
      const auto before = std::prev(next);
      if (before->first + before->second == block) {
        block = before->first;
        size += before->second;
        remove(before);
      }
    }
    insert(block, size);
  }

  // Segments of which nothing is in use go back to the system.
  void release_unused() {
    for (auto segment = segments_.begin(); segment != segments_.end();) {
      const auto whole = by_address_.find(segment->first);
      if (whole == by_address_.end() || whole->second != segment->second) {
        ++segment;
        continue;
      }
      allow(segment->first, segment->second);
      std::free(segment->first);
      held_ -= segment->second;
      remove(whole);
      segment = segments_.erase(segment);
    }
  }

  size_t held() const { return held_; }

 private:
  using ByAddress = std::map<char*, size_t>;

  void insert(char* block, size_t size) {
    by_address_.emplace(block, size);
    by_size_.emplace(size, block);
  }

  ByAddress::iterator remove(ByAddress::iterator place) {
    by_size_.erase({place->second, place->first});
    return by_address_.erase(place);
  }

  void add_segment(size_t size) {
    const size_t bytes = rounded_up(std::max(size, least_segment), huge_page);
    auto* segment = static_cast<char*>(std::aligned_alloc(huge_page, bytes));
    if (segment == nullptr) throw std::bad_alloc();
    madvise(segment, bytes, MADV_HUGEPAGE);  // a hint; failing is harmless
    forbid(segment, bytes);
    segments_.emplace(segment, bytes);
    held_ += bytes;
    insert(segment, bytes);
  }

  ByAddress by_address_;                        // free blocks
  std::set<std::pair<size_t, char*>> by_size_;  // the same
  std::map<char*, size_t> segments_;
  size_t held_ = 0;  // bytes of all segments
};

struct Allocator {
  std::mutex mutex;
  Pool pool;
  MemoryUse use;
};

// Never destroyed: tensors with static lifetime may outlive any order of destruction.
Allocator& allocator() {
  static Allocator* instance = new Allocator;
  return *instance;
}

[[noreturn]] void report_exhaustion(size_t bytes, size_t in_use) {
  throw SystemError("out of memory: a tensor of " + std::to_string(bytes) + " bytes does not fit beside the " +
                    std::to_string(in_use) + " in use");
}

}  // namespace

void* acquire_block(size_t bytes, size_t& capacity) {
  Allocator& a = allocator();
  const std::lock_guard lock(a.mutex);
  if (bytes > (size_t{1} << 46)) report_exhaustion(bytes, a.use.current);
  capacity = rounded_up(std::max<size_t>(1, bytes) + red_zone, alignment);
  try {
    void* block = a.pool.take(capacity);
    allow(block, bytes);
    a.use.current += capacity;
    a.use.peak = std::max(a.use.peak, a.use.current);
    return block;
  } catch (const std::bad_alloc&) {
    report_exhaustion(bytes, a.use.current);
  }
}

void release_block(void* block, size_t capacity) noexcept {
  Allocator& a = allocator();
  const std::lock_guard lock(a.mutex);
  a.use.current -= capacity;
  forbid(block, capacity);
  try {
    a.pool.give_back(static_cast<char*>(block), capacity);
  } catch (...) {
    // No memory even to remember the block by: it stays unused, and the next allocation reports the shortage.
  }
}

size_t held_memory() {
  Allocator& a = allocator();
  const std::lock_guard lock(a.mutex);
  return a.pool.held();
}

void release_cached_memory() {
  Allocator& a = allocator();
  const std::lock_guard lock(a.mutex);
  a.pool.release_unused();
}

MemoryUse memory_use() {
  Allocator& a = allocator();
  const std::lock_guard lock(a.mutex);
  return a.use;
}

void reset_peak_memory() {
  Allocator& a = allocator();
  const std::lock_guard lock(a.mutex);
  a.use.peak = a.use.current;
}

}  // namespace glass
