// Packed sequences: all rows of a batch one after another in one tensor [1,N,..], without padding between them. What
// works row by row needs to know nothing of it; positions, attention and dropout ask where each sequence begins.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "glassformer/base/random.h"
#include "glassformer/tensor/tensor.h"

namespace glass {

// The lengths of the sequences of one packed tensor. A cheap value.
class Packing {
 public:
  Packing() : Packing(std::vector<int64_t>()) {}
  explicit Packing(std::vector<int64_t> lengths);  // throws ShapeError if one is below 0
  // lengths [B], int32 or int64.
  static Packing of(const Tensor& lengths);

  Dim count() const { return static_cast<Dim>(lengths_->size()); }
  Dim rows() const { return rows_; }
  const std::vector<int64_t>& lengths() const { return *lengths_; }
  const std::shared_ptr<const std::vector<int64_t>>& shared_lengths() const { return lengths_; }
  // The first row of each sequence.
  std::vector<int64_t> begins() const;
  // Each row's place in its own sequence, int64 [N].
  Tensor positions() const;
  bool operator==(const Packing& other) const { return *lengths_ == *other.lengths_; }

 private:
  std::shared_ptr<const std::vector<int64_t>> lengths_;
  Dim rows_ = 0;
};

struct PackedTokens {
  Tensor ids;  // [1,N], int32 or int64
  Packing packing;
};

// The first lengths[b] of each row of padded [B,T]. Throws ShapeError if a length is not in [0,T].
PackedTokens pack(const Tensor& padded, const Tensor& lengths);

// While it lives, dropout on this thread draws for the rows of a packed tensor what it would draw for the same rows of
// a padded one. Does nothing outside of a RandomScope.
class PackedScope {
 public:
  explicit PackedScope(const Packing& packing);

 private:
  std::optional<RandomScope> scope_;
};

}  // namespace glass
