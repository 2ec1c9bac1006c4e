// What a model says when something inside it is another: a head missing, a row of weights edited, positions mixed up.
// The model's own code knows nothing of it: weights are changed for a while and put back, or the layers are run one by
// one from outside. Not safe while others use the model.
#pragma once

#include <vector>

#include "inspect/pair_record.h"

namespace glass {

struct ChangedOutput {
  Tensor logits;                       // [1,T,V], of the record's pair under the change
  std::vector<int32_t> before, after;  // what greedy search writes without and with it
};

ChangedOutput drop_head(TranslationModel& model, const PairRecord& record, AttentionKind kind, size_t layer, Dim head);

// The weights of one query of one head, which are to sum to 1 over the keys allowed. In the decoder, text begins with
// the target's tokens up to this row: it is the row's step that chooses the first token.
struct RowEdit {
  AttentionKind kind = AttentionKind::encoder;
  size_t layer = 0;
  Dim head = 0, query = 0;
  std::vector<double> weights;  // [S]
};
ChangedOutput edit_row(const TranslationModel& model, const PairRecord& record, const RowEdit& edit);

// The tokens of one side get each other's positions, in an order that the seed decides; those that greedy search adds
// behind the target keep theirs.
enum class Side { source, target };
ChangedOutput shuffle_positions(TranslationModel& model, const PairRecord& record, Side side, uint64_t seed);

}  // namespace glass
