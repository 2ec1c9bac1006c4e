// A small model with words for tokens, and a pair for it to read.
#pragma once

#include "decode/tiny_models.h"
#include "glassformer/decode/saved_model.h"
#include "glassformer/inspect/trace_pair.h"

namespace glass::testing {

inline SavedTranslation small_saved(PositionKind positions = PositionKind::sinusoidal) {
  SavedTranslation saved;
  saved.source = word_vocabulary("two dogs run here");
  saved.target = word_vocabulary("zwei hunde laufen");
  TransformerConfig config = tiny_config(saved.source->size());
  config.target_vocabulary = saved.target->size();
  config.positions = positions;
  config.max_positions = 7;
  saved.model = std::make_unique<TranslationModel>(config);
  return saved;
}

inline PairTokens small_pair(const SavedTranslation& saved) { return tokens_of_pair(saved, "two dogs", "zwei hunde"); }

}  // namespace glass::testing
