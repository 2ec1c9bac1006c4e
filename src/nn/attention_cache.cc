#include "glassformer/nn/attention_cache.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "glassformer/base/error.h"
#include "glassformer/base/threads.h"

namespace glass {

namespace {

void check_fits(const Tensor& held, const Tensor& more, size_t rows) {
  const bool fits = more.rank() == 4 && more.size(0) == static_cast<Dim>(rows) && more.size(1) == held.size(1) &&
                    more.size(3) == held.size(3) && more.dtype() == held.dtype();
  if (!fits) {
    const auto text = [](const Tensor& x) { return std::string(dtype_name(x.dtype())) + " " + x.shape().text(); };
    throw ShapeError("attention cache: " + text(more) + " after " + std::to_string(rows) + " rows of " + text(held));
  }
}

// The first `length` of the place, [1,H,length,K].
Tensor at_place(const Tensor& held, int64_t place, Dim first, Dim end) {
  return held.narrowed(0, place, place + 1).narrowed(2, first, end);
}

// Rows' copies, each to memory of its own.
void for_rows(size_t rows, const std::function<void(Dim row)>& copy) {
  constexpr int64_t worth_a_chunk = 8;
  parallel_for(static_cast<int64_t>(rows), worth_a_chunk, [&](int64_t begin, int64_t end) {
    for (Dim row = begin; row < end; ++row) copy(row);
  });
}

Tensor gathered(const Tensor& held, const std::vector<int64_t>& places, Dim length, Dim capacity) {
  Tensor out = Tensor::empty({static_cast<Dim>(places.size()), held.size(1), capacity, held.size(3)}, held.dtype());
  for_rows(places.size(), [&](Dim row) {
    at_place(out, row, 0, length).copy_from(at_place(held, places[static_cast<size_t>(row)], 0, length));
  });
  return out;
}

Tensor widened(const Tensor& numbers) { return numbers.dtype() == DType::bf16 ? numbers.to(DType::f32) : numbers; }

bool in_order(const std::vector<int64_t>& places, Dim all) {
  if (static_cast<Dim>(places.size()) != all) return false;
  for (size_t row = 0; row < places.size(); ++row) {
    if (places[row] != static_cast<int64_t>(row)) return false;
  }
  return true;
}

void write(Tensor& held, const std::vector<int64_t>& places, Dim first, const Tensor& more) {
  const Dim end = first + more.size(2);
  if (in_order(places, held.size(0))) {
    held.narrowed(2, first, end).copy_from(more);
    return;
  }
  for_rows(places.size(), [&](Dim row) {
    at_place(held, places[static_cast<size_t>(row)], first, end).copy_from(more.narrowed(0, row, row + 1));
  });
}

}  // namespace

void AttentionCache::append(const Tensor& key, const Tensor& value) {
  if (is_empty()) {  // without room to grow, which a memory's keys never do
    keys_ = key.detach().contiguous();
    values_ = value.detach().contiguous();
    length_ = key.size(2);
    for (Dim row = 0; row < key.size(0); ++row) places_.push_back(row);
    return;
  }
  check_fits(keys_, key, places_.size());
  check_fits(values_, value, places_.size());
  make_room(key.size(2));
  write(keys_, places_, length_, key);
  write(values_, places_, length_, value);
  length_ += key.size(2);
}

void AttentionCache::select(const std::vector<int64_t>& rows) {
  std::vector<int64_t> places;
  for (const int64_t row : rows) {
    if (row < 0 || row >= static_cast<int64_t>(places_.size())) {
      throw ValueError("attention cache: row " + std::to_string(row) + " of " + std::to_string(places_.size()));
    }
    places.push_back(places_[static_cast<size_t>(row)]);
  }
  places_ = std::move(places);
}

Tensor AttentionCache::key() const { return widened(gathered(keys_, places_, length_, length_)); }
Tensor AttentionCache::value() const { return widened(gathered(values_, places_, length_, length_)); }

// What is written next must be seen by one row only, and have room.
void AttentionCache::make_room(Dim more) {
  const Dim needed = length_ + more;
  if (needed > keys_.size(2)) {
    move_to(std::max<Dim>(16, 2 * needed));
  } else if (!give_each_row_its_own_place()) {
    move_to(keys_.size(2));
  }
}

// Copies what several rows share to places that none uses; false, and nothing done, if there are too few.
bool AttentionCache::give_each_row_its_own_place() {
  std::vector<bool> used(static_cast<size_t>(keys_.size(0)));
  std::vector<size_t> homeless;
  for (size_t row = 0; row < places_.size(); ++row) {
    const auto place = static_cast<size_t>(places_[row]);
    if (used[place]) homeless.push_back(row);
    used[place] = true;
  }
  if (places_.size() > used.size()) return false;
  std::vector<int64_t> free;
  for (size_t place = 0; place < used.size(); ++place) {
    if (!used[place]) free.push_back(static_cast<int64_t>(place));
  }
  for_rows(homeless.size(), [&](Dim i) {
    int64_t& place = places_[homeless[static_cast<size_t>(i)]];
    const int64_t shared = std::exchange(place, free[static_cast<size_t>(i)]);
    at_place(keys_, place, 0, length_).copy_from(at_place(keys_, shared, 0, length_));
    at_place(values_, place, 0, length_).copy_from(at_place(values_, shared, 0, length_));
  });
  return true;
}

// To memory of its own, each row at its own place.
void AttentionCache::move_to(Dim capacity) {
  keys_ = gathered(keys_, places_, length_, capacity);
  values_ = gathered(values_, places_, length_, capacity);
  for (size_t row = 0; row < places_.size(); ++row) places_[row] = static_cast<int64_t>(row);
}

}  // namespace glass
