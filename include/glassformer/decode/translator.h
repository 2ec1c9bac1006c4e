// The translator of a saved model: lines in, lines out.
//
//     const auto translator = glass::Translator::load("model.safetensors");
//     std::string chinese = translator.translate("The cat sat on the mat.").text;
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "glassformer/data/batches.h"
#include "glassformer/decode/saved_model.h"
#include "glassformer/decode/search.h"

namespace glass {

class LineReader;

struct TranslateOptions {
  SearchOptions search;
  int64_t batch_tokens = 4096;            // source tokens of the hypotheses computed at once
  int64_t max_source = 1000;              // of a line, in tokens with EOS. Learned positions limit it further
  LongLines long_lines = LongLines::cut;  // what becomes of longer ones; skipped, they give an empty translation
};

// The most tokens of a line, EOS included, that a model can read of `wanted`: learned positions have an end.
int64_t longest_source(const TransformerConfig& config, int64_t wanted);

struct Translation {
  std::string text;                // of the best hypothesis; empty for a blank line
  std::vector<Hypothesis> nbest;   // best first
  std::vector<std::string> texts;  // theirs
  bool source_was_cut = false, source_was_skipped = false;
};

// Attention weights of one layer.
struct AttentionMap {
  std::string path;  // "decoder.layers.0.cross_attn"
  Tensor weights;    // [H,T,S]
};
struct AttentionMaps {
  std::vector<std::string> source_pieces, target_pieces;  // what the axes stand for
  std::vector<AttentionMap> maps;
};

// The numbers that a translator multiplies with: those of the file, or each weight in eight bits (autograd/
// compact_weight.h), which are read four times as fast and cost some tenths of BLEU at most. `automatic` is compact
// where the processor multiplies bf16 itself.
enum class Weights { automatic, exact, compact };
// "auto", "exact", "compact". Throws InputError for another.
Weights weights_from_name(const std::string& name);

// Immutable: all functions may be called from several threads at once. Copies share the model.
class Translator {
 public:
  // Throws InputError for a file that is not a whole translation model.
  static Translator load(const std::string& path, Weights weights = Weights::automatic);
  explicit Translator(SavedTranslation saved, Weights weights = Weights::automatic);

  // One result for each line, in order; a blank line gives a blank one. Lines are UTF-8. Throws ValueError for options
  // outside their range.
  std::vector<Translation> translate(const std::vector<std::string>& lines, const TranslateOptions& options = {}) const;
  Translation translate(const std::string& line, const TranslateOptions& options = {}) const;

  // What the model attends to while reading `source` and writing `target`, a sentence or a hypothesis' tokens. Row t of
  // a decoder's map is the step that reads target_pieces[t], BOS first, and predicts what comes after it.
  AttentionMaps attention(const std::string& source, const std::string& target) const;
  AttentionMaps attention(const std::string& source, const std::vector<int32_t>& target) const;

  const SavedTranslation& saved() const { return *saved_; }

 private:
  std::shared_ptr<const SavedTranslation> saved_;
};

// Translates what the reader gives, in order, as it comes: a block of lines is at most `block` long, and ends as soon
// as no further line is waiting, so that a filter in a pipe answers each line without waiting for the end. Where a line
// cannot be read, those before it are translated before the reader's InputError goes on to the caller.
void translate_stream(
    const Translator& translator, LineReader& lines, const TranslateOptions& options, size_t block,
    const std::function<void(const std::vector<std::string>&, const std::vector<Translation>&)>& sink);

}  // namespace glass
