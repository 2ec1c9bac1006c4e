// Keys and values of earlier steps, so that decoding computes each once.
#pragma once

#include <cstdint>
#include <vector>

#include "glassformer/tensor/tensor.h"

namespace glass {

// What each row of a batch has seen so far. Rows may share a place in memory: hypotheses of one sentence share what
// they have in common until one of them grows, so that keeping, dropping and doubling hypotheses mostly copies nothing.
// No graph: what is computed from a cache has no gradient through earlier steps. Belongs to one thread at a time.
class AttentionCache {
 public:
  Dim length() const { return length_; }  // keys of each row
  bool is_empty() const { return !keys_.defined(); }

  // Adds key [R,H,T,K] and value [R,H,T,Kv], of the type that they are to be kept in: bf16 halves what a step has to
  // read. Throws ShapeError if they do not fit what is held, by size or type.
  void append(const Tensor& key, const Tensor& value);
  // Goes on with these rows, in this order; a row may come more than once. Throws ValueError for one that is not there.
  void select(const std::vector<int64_t>& rows);

  // Dense copies: [R,H,S,K] and [R,H,S,Kv], float32 of bf16.
  Tensor key() const;
  Tensor value() const;

  // Where they lie: row r is places()[r] of keys_in_place() [P,H,C,K] and values_in_place() [P,H,C,Kv], its first
  // length() of C.
  const std::vector<int64_t>& places() const { return places_; }
  const Tensor& keys_in_place() const { return keys_; }
  const Tensor& values_in_place() const { return values_; }

 private:
  void make_room(Dim more);
  bool give_each_row_its_own_place();
  void move_to(Dim capacity);

  Tensor keys_, values_;
  std::vector<int64_t> places_;
  Dim length_ = 0;
};

}  // namespace glass
