// Pictures of a translation model: its attention over one pair of sentences, its positions, its masks.
#pragma once

#include <optional>
#include <vector>

#include "glassformer/inspect/drawing.h"
#include "glassformer/inspect/explain.h"
#include "glassformer/inspect/trace_pair.h"

namespace glass {

// Which heads: of a stack all, of one layer, or one. layer and head count from 0, from the end if negative.
struct HeadChoice {
  AttentionKind kind = AttentionKind::cross;
  std::optional<Dim> layer, head;  // a head needs a layer
};

// The attention weights of the heads chosen while the model reads and writes the pair: queries down, keys across,
// on one scale (ColorScale::share), masked cells hatched; all layers as a grid, one row a layer. Throws InputError if
// there is no such layer or head.
Drawing draw_attention(const TranslationModel& model, const PairTokens& pair, const HeadChoice& choice);

// What the model adds to the embeddings of the first `length` positions [length,D], of the encoder, and of the decoder
// if its are not the same. For sinusoidal positions some columns are named by their wavelength. Throws InputError for
// more positions than learned ones.
Drawing draw_positions(const TranslationModel& model, Dim length);

// The masks of the three attentions over the pair, as if a longer one stood beside it in the batch: both sides are
// filled up by `padding` tokens.
Drawing draw_masks(const PairTokens& pair, Dim padding);

}  // namespace glass
