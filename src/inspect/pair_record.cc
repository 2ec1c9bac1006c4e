#include "inspect/pair_record.h"

#include <algorithm>

#include "glassformer/decode/translator.h"
#include "inspect/answer.h"

namespace glass {

namespace {

struct SideTokens {
  std::string text;
  std::vector<int32_t> tokens;  // without BOS and EOS
  std::vector<ByteSpan> bytes;
};

void check_size(size_t tokens, const char* side) {
  if (tokens <= most_pair_tokens) return;
  refuse_size("the " + std::string(side) + " has " + std::to_string(tokens) + " tokens; at most " +
              std::to_string(most_pair_tokens) + " can be looked at, shorten it");
}

SideTokens side_of_text(const Vocabulary& vocabulary, const std::string& text) {
  SideTokens side{text, {}, {}};
  for (const TokenSpan& span : vocabulary.encode_spans(text)) {
    side.tokens.push_back(span.token);
    side.bytes.emplace_back();
    if (span.begin < span.end) side.bytes.back() = {span.begin, span.end};
  }
  return side;
}

SideTokens side_of_tokens(const Vocabulary& vocabulary, const std::vector<int32_t>& tokens) {
  std::vector<std::string> pieces;
  for (const int32_t token : tokens) pieces.push_back(vocabulary.piece(token));
  const std::string text = vocabulary.decode(tokens);
  return {text, tokens, spans_of_pieces(text, pieces)};
}

BeamResult search_beam(const SavedTranslation& saved, const PairTokens& source, const PairQuestion& question) {
  BeamResult result;
  SearchOptions& options = result.options;
  options.beam = options.nbest = question.beam;
  options.prefix = question.prefix;
  options.max_length = search_limit(saved.model->config, source, question.prefix.size());
  options.observer = [&](const SearchStep& step) { result.record.add(step); };
  result.best = search(*saved.model, source.source, source.source_lengths, options)[0];
  options.observer = {};
  return result;
}

// The target given, or what a search finds.
SideTokens target_side(const SavedTranslation& saved, const SideTokens& source, const PairQuestion& question,
                       PairRecord& record) {
  if (question.target) return side_of_text(*saved.target, *question.target);
  record.beam = search_beam(saved, pair_of_tokens(saved, source.tokens, {}), question);
  if (record.beam->best.empty()) refuse_question("the search found no translation");
  return side_of_tokens(*saved.target, record.beam->best[0].tokens);
}

// How many numbers the scores of every head are.
int64_t score_cells(const TransformerConfig& config, const PairTokens& pair) {
  const Dim s = pair.source.numel(), t = pair.target_input.numel();
  return config.heads * (config.encoder_layers * s * s + config.decoder_layers * t * (t + s));
}

TraceOptions trace_options(const TransformerConfig& config, const PairTokens& pair) {
  constexpr int64_t most_cells = 16'000'000;  // statistics of more take too long
  TraceOptions options;
  const std::vector<std::string> large{"*.scores", "*.weights"};
  (score_cells(config, pair) <= most_cells ? options.summed_up : options.left_out) = large;
  return options;
}

CapturedAttention captured(const Trace& trace, const MultiHeadAttention& attention, AttentionKind kind) {
  const std::string path = attention.path();
  const auto at = [&](const char* name) { return trace.at(path + "." + name); };
  return {path, kind, attention.scale, at("query_heads"), at("key_heads"), at("value_heads"), at("context")};
}

void capture_attentions(const TranslationModel& model, PairRecord& record) {
  for (const EncoderLayer& layer : model.encoder.layers) {
    record.attentions[AttentionKind::encoder].push_back(
        captured(record.trace, layer.self_attn, AttentionKind::encoder));
  }
  for (const DecoderLayer& layer : model.decoder.layers) {
    record.attentions[AttentionKind::decoder].push_back(
        captured(record.trace, layer.self_attn, AttentionKind::decoder));
    record.attentions[AttentionKind::cross].push_back(captured(record.trace, layer.cross_attn, AttentionKind::cross));
  }
}

}  // namespace

int64_t search_limit(const TransformerConfig& config, const PairTokens& pair, size_t prefix) {
  const auto usual = static_cast<int64_t>(2 * pair.source.numel() + 10), before = static_cast<int64_t>(prefix);
  const int64_t most = longest_source(config, static_cast<int64_t>(most_pair_tokens)) - 1;
  return std::max<int64_t>(1, std::min(usual + before, most));
}

int64_t PairRecord::bytes() const {
  int64_t sum = 0;
  for (const TraceEntry& entry : trace.entries()) {
    if (entry.value.defined()) sum += entry.value.numel() * static_cast<int64_t>(sizeof(float));
  }
  return sum;
}

PairRecord record_pair(const SavedTranslation& saved, const PairQuestion& question) {
  PairRecord record;
  SideTokens source = side_of_text(*saved.source, question.source);
  check_size(source.tokens.size() + 1, "source");
  SideTokens target = target_side(saved, source, question, record);
  check_size(target.tokens.size() + 1, "target");
  record.pair = pair_of_tokens(saved, source.tokens, target.tokens);
  record.source = std::move(source.text);
  record.target = std::move(target.text);
  record.source_bytes = std::move(source.bytes);
  record.source_bytes.emplace_back();
  record.target_bytes = std::move(target.bytes);
  record.target_bytes.emplace(record.target_bytes.begin());
  record.trace = Trace(trace_options(saved.model->config, record.pair));
  record.loss = trace_pair(*saved.model, record.pair, record.trace);
  capture_attentions(*saved.model, record);
  return record;
}

const AttentionSurvey& survey_of(PairRecord& record, AttentionKind kind, Dim size) {
  if (record.survey_sizes[kind] != size) {
    record.surveys[kind] = survey_attention(record.attentions.at(kind), size);
    record.survey_sizes[kind] = size;
  }
  return record.surveys[kind];
}

}  // namespace glass
