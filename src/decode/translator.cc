#include "glassformer/decode/translator.h"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "decode/search_options.h"
#include "glassformer/autograd/tap.h"
#include "glassformer/base/error.h"
#include "glassformer/base/isa.h"
#include "glassformer/data/text.h"

namespace glass {

namespace {

using Tokens = std::vector<int32_t>;

struct SourceBatch {
  Tensor source;   // [B,S]
  Tensor lengths;  // [B]
};

SourceBatch make_source_batch(const std::vector<const Tokens*>& rows) {
  size_t longest = 0;
  for (const Tokens* row : rows) longest = std::max(longest, row->size());
  const auto count = static_cast<Dim>(rows.size()), length = static_cast<Dim>(longest);
  SourceBatch batch{Tensor::full({count, length}, pad_token, DType::i32), Tensor::zeros({count}, DType::i32)};
  for (Dim b = 0; b < count; ++b) {
    const Tokens& row = *rows[static_cast<size_t>(b)];
    std::copy(row.begin(), row.end(), batch.source.data<int32_t>() + b * length);
    batch.lengths.data<int32_t>()[b] = static_cast<int32_t>(row.size());
  }
  return batch;
}

// Line numbers with something to translate, in batches of similar length.
std::vector<std::vector<size_t>> batches_by_length(const std::vector<Tokens>& sources, int64_t limit) {
  std::vector<size_t> order;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (sources[i].size() > 1) order.push_back(i);  // more than EOS
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return sources[a].size() < sources[b].size(); });
  std::vector<std::vector<size_t>> batches;
  for (const size_t i : order) {
    const auto longest = static_cast<int64_t>(sources[i].size());  // they come in rising length
    if (batches.empty() || (static_cast<int64_t>(batches.back().size()) + 1) * longest > limit) batches.emplace_back();
    batches.back().push_back(i);
  }
  return batches;
}

// The tokens of a line with EOS, within the limit; notes what became of a line above it.
Tokens source_tokens(const SavedTranslation& saved, const std::string& line, const TranslateOptions& options,
                     Translation& translation) {
  const int64_t limit = longest_source(saved.model->config, options.max_source);
  const auto most = static_cast<size_t>(limit - 1);  // EOS comes on top
  // No token needs so many bytes: what lies behind them is not looked at, and takes no memory.
  constexpr size_t most_bytes_of_a_token = 256;
  const std::string_view front = std::string_view(line).substr(0, most_bytes_of_a_token * (most + 1));
  Tokens tokens = saved.source->encode(front.substr(0, valid_utf8_prefix(front)));
  if (tokens.size() > most || front.size() < line.size()) {
    const bool skip = options.long_lines == LongLines::skip;
    (skip ? translation.source_was_skipped : translation.source_was_cut) = true;
    tokens.resize(skip ? 0 : std::min(tokens.size(), most));
  }
  tokens.push_back(eos_token);
  return tokens;
}

}  // namespace

int64_t longest_source(const TransformerConfig& config, int64_t wanted) {
  return config.positions == PositionKind::learned ? std::min(wanted, config.max_positions) : wanted;
}

Weights weights_from_name(const std::string& name) {
  if (name == "auto") return Weights::automatic;
  if (name == "exact") return Weights::exact;
  if (name == "compact") return Weights::compact;
  throw InputError("weights: unknown \"" + name + "\"; use auto, exact or compact");
}

Translator Translator::load(const std::string& path, Weights weights) {
  return Translator(load_translation(path), weights);
}

Translator::Translator(SavedTranslation saved, Weights weights) {
  saved.model->train(false);
  if (weights == Weights::compact || (weights == Weights::automatic && (has_bf16_products() || has_int8_products()))) {
    compact_weights(*saved.model);
  }
  saved_ = std::make_shared<const SavedTranslation>(std::move(saved));
}

std::vector<Translation> Translator::translate(const std::vector<std::string>& lines,
                                               const TranslateOptions& options) const {
  if (options.batch_tokens < 1 || options.max_source < 2) {
    throw ValueError("translate: batch_tokens is 1 or more and max_source 2 or more");
  }
  check_search_options(options.search);
  std::vector<Translation> out(lines.size());
  std::vector<Tokens> sources;
  for (size_t i = 0; i < lines.size(); ++i) sources.push_back(source_tokens(*saved_, lines[i], options, out[i]));
  const int64_t limit = std::max<int64_t>(1, options.batch_tokens / options.search.beam);
  for (const std::vector<size_t>& rows : batches_by_length(sources, limit)) {
    std::vector<const Tokens*> batch_rows;
    for (const size_t i : rows) batch_rows.push_back(&sources[i]);
    const SourceBatch batch = make_source_batch(batch_rows);
    auto results = search(*saved_->model, batch.source, batch.lengths, options.search);
    for (size_t b = 0; b < rows.size(); ++b) {
      Translation& translation = out[rows[b]];
      translation.nbest = std::move(results[b]);
      for (const Hypothesis& hypothesis : translation.nbest) {
        translation.texts.push_back(saved_->target->decode(hypothesis.tokens));
      }
      if (!translation.texts.empty()) translation.text = translation.texts[0];
    }
  }
  return out;
}

Translation Translator::translate(const std::string& line, const TranslateOptions& options) const {
  return translate(std::vector<std::string>{line}, options)[0];
}

namespace {

std::vector<std::string> pieces_of(const Vocabulary& vocabulary, const Tokens& tokens) {
  std::vector<std::string> pieces;
  for (const int32_t token : tokens) pieces.push_back(vocabulary.piece(token));
  return pieces;
}

}  // namespace

AttentionMaps Translator::attention(const std::string& source, const std::string& target) const {
  return attention(source, saved_->target->encode(target));
}

AttentionMaps Translator::attention(const std::string& source, const std::vector<int32_t>& target) const {
  Tokens in = saved_->source->encode(source), out = target;
  in.push_back(eos_token);
  out.insert(out.begin(), bos_token);
  AttentionMaps maps{pieces_of(*saved_->source, in), pieces_of(*saved_->target, out), {}};

  const NoGrad values_only;
  const ListenToTaps listen([&](const std::string& path, const Tensor& value) {
    constexpr std::string_view suffix = ".weights";
    if (!path.ends_with(suffix)) return;
    const Tensor weights = value.reshaped({value.size(1), value.size(2), value.size(3)});  // [1,H,T,S] -> [H,T,S]
    maps.maps.push_back({path.substr(0, path.size() - suffix.size()), weights});
  });
  const SourceBatch batch = make_source_batch({&in});
  (*saved_->model)(batch.source, batch.lengths, Tensor::from(out, {1, static_cast<Dim>(out.size())}));
  return maps;
}

}  // namespace glass
