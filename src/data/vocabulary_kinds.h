// How each kind of vocabulary is made. The first byte of the serialized form says which it is.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "glassformer/data/vocabulary.h"

namespace glass {

inline constexpr char sentencepiece_kind = 'S', word_kind = 'W', character_kind = 'C', lowercase_kind = 'L';

std::shared_ptr<const Vocabulary> train_sentencepiece(const std::vector<std::string>& lines,
                                                      const VocabularyOptions& options);
std::shared_ptr<const Vocabulary> load_sentencepiece(const std::string& payload);

}  // namespace glass
