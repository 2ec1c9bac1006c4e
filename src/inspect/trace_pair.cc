#include "glassformer/inspect/trace_pair.h"

#include "glassformer/autograd/ops.h"
#include "glassformer/base/error.h"
#include "glassformer/decode/search.h"
#include "glassformer/decode/translator.h"
#include "glassformer/inspect/trace_loss.h"

namespace glass {

namespace {

Tensor one_row(const std::vector<int32_t>& tokens) {
  return Tensor::from(tokens, {1, static_cast<Dim>(tokens.size())});
}

std::vector<std::string> pieces_of(const Vocabulary& vocabulary, const std::vector<int32_t>& tokens) {
  std::vector<std::string> pieces;
  pieces.reserve(tokens.size());
  for (const int32_t token : tokens) pieces.push_back(vocabulary.piece(token));
  return pieces;
}

void check_length(const TransformerConfig& config, size_t tokens, const char* side) {
  const auto length = static_cast<int64_t>(tokens);
  const int64_t longest = longest_source(config, length);
  if (length <= longest) return;
  throw InputError("inspect: the " + std::string(side) + " has " + std::to_string(length) +
                   " tokens, the model reads at most " + std::to_string(longest) + "; shorten it");
}

}  // namespace

PairTokens pair_of_tokens(const SavedTranslation& saved, std::vector<int32_t> source, std::vector<int32_t> target) {
  if (source.empty())
    throw InputError("inspect: the source has no token; give a sentence, as --source \"A dog runs.\"");
  source.push_back(eos_token);
  target.push_back(eos_token);
  check_length(saved.model->config, source.size(), "source");
  check_length(saved.model->config, target.size(), "target");
  PairTokens pair;
  pair.source = one_row(source);
  pair.source_lengths = Tensor::from(std::vector<int32_t>{static_cast<int32_t>(source.size())}, {1});
  pair.target_output = one_row(target);
  target.pop_back();
  target.insert(target.begin(), bos_token);
  pair.target_input = one_row(target);
  pair.source_pieces = pieces_of(*saved.source, source);
  pair.target_pieces = pieces_of(*saved.target, target);
  return pair;
}

PairTokens tokens_of_pair(const SavedTranslation& saved, const std::string& source,
                          const std::optional<std::string>& target) {
  const std::vector<int32_t> in = saved.source->encode(source);
  const PairTokens pair = pair_of_tokens(saved, in, target ? saved.target->encode(*target) : std::vector<int32_t>());
  if (target) return pair;
  return pair_of_tokens(saved, in, search(*saved.model, pair.source, pair.source_lengths, {})[0][0].tokens);
}

double trace_pair(const TranslationModel& model, const PairTokens& pair, Trace& trace) {
  const auto loss = [&] {
    const Tensor logits = model(pair.source, pair.source_lengths, pair.target_input);  // [1,T,V]
    return cross_entropy(logits, pair.target_output, {0, pad_token});
  };
  return trace_loss(model, loss, trace);
}

}  // namespace glass
