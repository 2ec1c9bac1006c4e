// The whole Transformer of the paper (Vaswani et al., 2017, figure 1): tokens in, scores of the next token out.
#pragma once

#include <memory>

#include "glassformer/models/config.h"

namespace glass {

class TranslationModel : public ModuleOf<TranslationModel> {
 public:
  // Initial weights from config.seed. Throws ShapeError or ValueError for a config that cannot be built.
  explicit TranslationModel(const TransformerConfig& config);

  // source [B,S] int, padded at the end; source_lengths [B] int; target [B,T] int, starting with BOS
  // -> logits [B,T,V]: row t scores the token that follows target[.., 0..t].
  Tensor forward(const Tensor& source, const Tensor& source_lengths, const Tensor& target) const;

  // The same without padding: source and target of the same sequences, packed -> logits [1,N,V] of the target's rows.
  // Throws Error if the position scheme cannot pack.
  Tensor forward(const PackedTokens& source, const PackedTokens& target) const;

  // cross_entropy_sum of forward(source, target)'s logits, which are never stored; labels [1,N]. A scalar.
  Tensor loss_sum(const PackedTokens& source, const PackedTokens& target, const Tensor& labels,
                  const CrossEntropyOptions& options, double* nll = nullptr) const;

  Tensor encode(const Tensor& source, const Tensor& source_lengths) const;  // -> memory [B,S,D]
  Tensor encode(const PackedTokens& source) const;                          // -> memory [1,N,D]
  // The decoder's output before the output layer, [B,T,D]. With a cache, target is what comes after what it holds.
  Tensor decode(const Tensor& target, const Tensor& memory, const Tensor& source_lengths,
                DecoderCache* cache = nullptr) const;
  Tensor decode(const PackedTokens& target, const Tensor& memory, const Packing& source) const;  // -> [1,N,D]
  Tensor logits(const Tensor& hidden) const;                                                     // [..,D] -> [..,V]
  const char* kind() const override { return "TranslationModel"; }

  TransformerConfig config;
  TokenEmbedding target_embedding;  // [V,D]
  TokenEmbedding source_embedding;
  std::unique_ptr<PositionScheme> encoder_positions, decoder_positions;
  Dropout source_dropout, target_dropout;  // on embedding + position
  Encoder encoder;
  Decoder decoder;
  Linear output;
};

}  // namespace glass
