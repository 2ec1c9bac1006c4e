#include "glassformer/models/translation_model.h"

#include "glassformer/autograd/tap.h"
#include "glassformer/base/error.h"

namespace glass {

namespace {

const TransformerConfig& checked(const TransformerConfig& c) {
  if (c.source_vocabulary < 1 || c.target_vocabulary < 1) {
    throw ValueError("translation model: vocabularies of " + std::to_string(c.source_vocabulary) + " and " +
                     std::to_string(c.target_vocabulary) + " tokens");
  }
  if (c.tie_embeddings == TieEmbeddings::all && c.source_vocabulary != c.target_vocabulary) {
    throw ValueError("translation model: tie_embeddings \"all\" needs one shared vocabulary, got " +
                     std::to_string(c.source_vocabulary) + " and " + std::to_string(c.target_vocabulary) + " tokens");
  }
  return c;
}

}  // namespace

TranslationModel::TranslationModel(const TransformerConfig& c)
    : ModuleOf(nullptr, ""),
      config(checked(c)),
      target_embedding(this, "target_embedding", c.target_vocabulary, c.d_model),
      source_embedding(c.tie_embeddings == TieEmbeddings::all
                           ? TokenEmbedding(this, "source_embedding", target_embedding.weight)
                           : TokenEmbedding(this, "source_embedding", c.source_vocabulary, c.d_model)),
      encoder_positions(make_positions(c.positions, this, "encoder_positions", c.max_positions, c.d_model)),
      decoder_positions(make_positions(c.positions, this, "decoder_positions", c.max_positions, c.d_model)),
      source_dropout(this, "source_dropout", c.dropout.embedding),
      target_dropout(this, "target_dropout", c.dropout.embedding),
      encoder(this, "encoder", c.encoder_options()),
      decoder(this, "decoder", c.decoder_options()),
      output(c.tie_embeddings == TieEmbeddings::none ? Linear(this, "output", c.d_model, c.target_vocabulary)
                                                     : Linear(this, "output", target_embedding.weight)) {
  initialize(*this, c.init, c.seed);
}

Tensor TranslationModel::encode(const Tensor& source, const Tensor& source_lengths) const {
  const Tensor x = encoder_positions->embed(source_embedding(source), 0);  // [B,S,D]
  return encoder(source_dropout(tap("source_input", x)), AttentionMask::lengths(source_lengths),
                 encoder_positions.get());
}

Tensor TranslationModel::decode(const Tensor& target, const Tensor& memory, const Tensor& source_lengths,
                                DecoderCache* cache) const {
  const Dim first = cache != nullptr ? cache->length() : 0;
  const Tensor y = decoder_positions->embed(target_embedding(target), first);  // [B,T,D]
  return decoder(target_dropout(tap("target_input", y)), memory, AttentionMask::none(),
                 AttentionMask::lengths(source_lengths), decoder_positions.get(), cache);
}

Tensor TranslationModel::encode(const PackedTokens& source) const {
  const PackedScope rows(source.packing);
  const Tensor x = encoder_positions->embed(source_embedding(source.ids), source.packing);  // [1,N,D]
  return encoder(source_dropout(tap("source_input", x)), AttentionMask::packed(source.packing, source.packing),
                 encoder_positions.get());
}

Tensor TranslationModel::decode(const PackedTokens& target, const Tensor& memory, const Packing& source) const {
  const PackedScope rows(target.packing);
  const Tensor y = decoder_positions->embed(target_embedding(target.ids), target.packing);  // [1,N,D]
  return decoder(target_dropout(tap("target_input", y)), memory, AttentionMask::packed(target.packing, target.packing),
                 AttentionMask::packed(target.packing, source), decoder_positions.get());
}

Tensor TranslationModel::logits(const Tensor& hidden) const { return tap("logits", output(hidden)); }

Tensor TranslationModel::forward(const Tensor& source, const Tensor& source_lengths, const Tensor& target) const {
  const Tensor memory = encode(source, source_lengths);   // [B,S,D]
  return logits(decode(target, memory, source_lengths));  // [B,T,V]
}

Tensor TranslationModel::forward(const PackedTokens& source, const PackedTokens& target) const {
  return logits(decode(target, encode(source), source.packing));  // [1,N,V]
}

Tensor TranslationModel::loss_sum(const PackedTokens& source, const PackedTokens& target, const Tensor& labels,
                                  const CrossEntropyOptions& options, double* nll) const {
  const Tensor hidden = decode(target, encode(source), source.packing);  // [1,N,D]
  if (listening_to_taps()) {
    const NoGrad values_only;
    logits(hidden);
  }
  const Scope scope(output.name());
  return linear_cross_entropy_sum(hidden, output.weight, output.bias, labels, options, nll);
}

}  // namespace glass
