// Position schemes: how a model knows the order of its tokens. A scheme is a value handed to the model, not a flag
// inside attention. It may add to the embeddings, rotate queries and keys, or add to the scores.
#pragma once

#include <memory>

#include "glassformer/nn/mask.h"
#include "glassformer/nn/module.h"
#include "glassformer/nn/packing.h"

namespace glass {

struct QueryKey {
  Tensor query, key;  // [B,H,T,K], [B,H,S,K]
};

class PositionScheme : public Module {
 public:
  using Module::Module;
  // x [B,T,D], whose row 0 stands at absolute position `first` -> [B,T,D]
  virtual Tensor embed(const Tensor& x, Dim first) const;
  // x [1,N,D], packed sequences that each begin at position 0 -> [1,N,D]. Throws Error where a scheme does not say how;
  // it works with padding then.
  virtual Tensor embed(const Tensor& x, const Packing& packing) const;
  // Self-attention only: called with the new queries and keys, both starting at position `first`.
  virtual QueryKey rotate(const QueryKey& query_key, Dim first) const;
  // Self-attention only: what to add to the scaled scores, broadcastable to [B,H,T,S]; undefined for nothing.
  virtual Tensor score_bias(const ScoreExtent& extent) const;
};

// PE(pos, 2i) = sin(pos / 10000^(2i/D)), PE(pos, 2i+1) = cos(the same) (Vaswani et al., 2017, section 3.5). Of any
// length; an odd D ends in a sine column.
class SinusoidalPositions : public PositionScheme {
 public:
  SinusoidalPositions(Module* parent, std::string name, Dim d_model);
  Tensor embed(const Tensor& x, Dim first) const override;
  Tensor embed(const Tensor& x, const Packing& packing) const override;
  const char* kind() const override { return "SinusoidalPositions"; }

 private:
  Tensor table_;  // the first positions, ready made; later ones are computed when met
};

// Rows [first, first+count) of the encoding -> [count, D] float32.
Tensor sinusoidal_encoding(Dim first, Dim count, Dim d_model);

// A trained row for each position (Gehring et al., 2017).
class LearnedPositions : public PositionScheme {
 public:
  LearnedPositions(Module* parent, std::string name, Dim max_positions, Dim d_model);
  // Throws ValueError past max_positions, naming the input's length, the limit and the remedy.
  Tensor embed(const Tensor& x, Dim first) const override;
  Tensor embed(const Tensor& x, const Packing& packing) const override;
  const char* kind() const override { return "LearnedPositions"; }

  Tensor weight;  // [max_positions, D]

 private:
  void check_length(Dim length) const;
};

enum class PositionKind { sinusoidal, learned };
std::unique_ptr<PositionScheme> make_positions(PositionKind kind, Module* parent, std::string name, Dim max_positions,
                                               Dim d_model);

}  // namespace glass
