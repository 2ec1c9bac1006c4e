#include "glassformer/nn/packing.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "glassformer/base/error.h"

namespace glass {

Packing::Packing(std::vector<int64_t> lengths)
    : lengths_(std::make_shared<const std::vector<int64_t>>(std::move(lengths))),
      rows_(std::accumulate(lengths_->begin(), lengths_->end(), Dim{0})) {
  if (std::any_of(lengths_->begin(), lengths_->end(), [](int64_t length) { return length < 0; })) {
    throw ShapeError("Packing: a length below 0");
  }
}

Packing Packing::of(const Tensor& lengths) {
  if (lengths.rank() != 1 || (lengths.dtype() != DType::i32 && lengths.dtype() != DType::i64)) {
    throw ShapeError("Packing: lengths are int32 or int64 of shape [B], got " +
                     std::string(dtype_name(lengths.dtype())) + " " + lengths.shape().text());
  }
  const Tensor wide = lengths.to(DType::i64).contiguous();
  const auto* first = wide.data<int64_t>();
  return Packing(std::vector<int64_t>(first, first + wide.numel()));
}

std::vector<int64_t> Packing::begins() const {
  std::vector<int64_t> begins(lengths_->size());
  std::exclusive_scan(lengths_->begin(), lengths_->end(), begins.begin(), int64_t{0});
  return begins;
}

Tensor Packing::positions() const {
  Tensor positions = Tensor::empty({rows_}, DType::i64);
  auto* to = positions.data<int64_t>();
  for (const int64_t length : *lengths_) {
    std::iota(to, to + length, int64_t{0});
    to += length;
  }
  return positions;
}

PackedTokens pack(const Tensor& padded, const Tensor& lengths) {
  const Packing packing = Packing::of(lengths);
  if (padded.rank() != 2 || padded.size(0) != packing.count()) {
    throw ShapeError("pack: tokens " + padded.shape().text() + " with " + std::to_string(packing.count()) + " lengths");
  }
  for (const int64_t length : packing.lengths()) {
    if (length >= 0 && length <= padded.size(1)) continue;
    throw ShapeError("pack: a length of " + std::to_string(length) + " for tokens " + padded.shape().text());
  }
  const Tensor dense = padded.contiguous();
  const size_t size = dtype_size(dense.dtype());
  Tensor ids = Tensor::empty({1, packing.rows()}, dense.dtype());
  const auto* from = static_cast<const char*>(dense.raw());
  auto* to = static_cast<char*>(ids.raw());
  for (const int64_t length : packing.lengths()) {
    std::memcpy(to, from, static_cast<size_t>(length) * size);
    to += static_cast<size_t>(length) * size;
    from += static_cast<size_t>(dense.size(1)) * size;
  }
  return {ids, packing};
}

PackedScope::PackedScope(const Packing& packing) {
  const RandomContext* here = RandomScope::current();
  if (here == nullptr) return;
  RandomContext context = *here;
  context.packed_rows = packing.shared_lengths();
  scope_.emplace(context);
}

}  // namespace glass
