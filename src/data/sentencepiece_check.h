// SentencePiece trusts the models it loads: a damaged one makes it read outside of its memory or end the process. This
// check comes first.
#pragma once

#include <string_view>

namespace glass {

// Throws InputError unless `model` is a whole SentencePiece model of the kind train_sentencepiece() makes: unigram or
// bpe pieces without bytes of their own, finite scores, and a normalization table all of whose paths stay inside it.
// Allocates no more than in proportion to the model's size.
void check_sentencepiece_model(std::string_view model);

}  // namespace glass
