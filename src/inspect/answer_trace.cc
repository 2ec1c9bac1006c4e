#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "inspect/answers.h"
#include "inspect/logit_rows.h"

namespace glass {

namespace {

constexpr int most_beam = 16;

std::vector<int32_t> prefix_in(const Json& json) {
  if (!json.is_array() || json.size() > most_pair_tokens) refuse_question("prefix: takes a list of token numbers");
  std::vector<int32_t> tokens;
  for (const Json& token : json) {
    if (!token.is_number_integer()) refuse_question("prefix: " + text_of(token) + " is no token number");
    tokens.push_back(static_cast<int32_t>(std::clamp<int64_t>(token.get<int64_t>(), -1, 1 << 30)));
  }
  return tokens;
}

}  // namespace

PairQuestion pair_question(const std::string& body) {
  const Json json = json_of_body(body);
  if (!json.is_object() || !json.contains("source")) refuse_question("a trace takes {\"source\": \"A sentence.\"}");
  PairQuestion question;
  question.source = json.at("source").get<std::string>();
  if (json.contains("target") && !json.at("target").is_null()) question.target = json.at("target").get<std::string>();
  if (json.contains("prefix")) question.prefix = prefix_in(json.at("prefix"));
  if (json.contains("beam")) {
    const Json& beam = json.at("beam");
    if (!beam.is_number_integer()) refuse_question("beam: takes a whole number");
    question.beam = static_cast<int>(whole_number("beam", beam.dump(), 1, most_beam));
  }
  if (question.target && !question.prefix.empty()) {
    refuse_question("a prefix is for a search, which a given target leaves out; give one of both");
  }
  return question;
}

// --- the description

namespace {

Json tokens_json(const Tensor& ids, const std::vector<std::string>& pieces, const std::vector<ByteSpan>& bytes) {
  Json json = Json::array();
  for (size_t i = 0; i < pieces.size(); ++i) {
    Json span = nullptr;
    if (bytes[i]) span = {bytes[i]->first, bytes[i]->second};
    json.push_back({{"id", ids.data<int32_t>()[i]}, {"piece", pieces[i]}, {"bytes", span}});
  }
  return json;
}

// The largest first; of equals the lower token.
std::vector<int32_t> best_tokens(std::span<const float> logits, size_t count) {
  std::vector<int32_t> tokens(logits.size());
  std::iota(tokens.begin(), tokens.end(), 0);
  count = std::min(count, tokens.size());
  const auto better = [&](int32_t a, int32_t b) {
    const float x = logits[static_cast<size_t>(a)], y = logits[static_cast<size_t>(b)];
    return x > y || (x == y && a < b);
  };
  std::partial_sort(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(count), tokens.end(), better);
  tokens.resize(count);
  return tokens;
}

Json prediction_json(const Vocabulary& vocabulary, std::span<const float> logits, int32_t label) {
  const double log_z = log_sum_exp(logits);
  const auto log_p = [&](int32_t token) { return static_cast<double>(logits[static_cast<size_t>(token)]) - log_z; };
  const float own = logits[static_cast<size_t>(label)];
  const auto higher = std::count_if(logits.begin(), logits.end(), [&](float other) { return other > own; });
  Json json{{"id", label}, {"piece", vocabulary.piece(label)}, {"log_p", json_number(log_p(label))}};
  json["rank"] = 1 + higher;
  json["top"] = Json::array();
  for (const int32_t token : best_tokens(logits, 5)) {
    const double p = std::exp(log_p(token));
    json["top"].push_back({{"id", token}, {"piece", vocabulary.piece(token)}, {"p", json_number(p)}});
  }
  return json;
}

// NaN compares with nothing: rows that hold some have no order.
bool is_ordered(std::span<const float> row) {
  return std::none_of(row.begin(), row.end(), [](float x) { return std::isnan(x); });
}

Json predictions_json(const SavedTranslation& saved, const PairRecord& record) {
  const Tensor logits = record.trace.at("logits").contiguous();  // [1,T,V]
  Json json = Json::array();
  for (Dim t = 0; t < logits.size(1); ++t) {
    const std::span<const float> row = logit_row(logits, t);
    const int32_t label = record.pair.target_output.data<int32_t>()[t];
    if (is_ordered(row)) {
      json.push_back(prediction_json(*saved.target, row, label));
    } else {
      json.push_back({{"id", label}, {"piece", saved.target->piece(label)}, {"log_p", "NaN"}, {"rank", nullptr}});
      json.back()["top"] = Json::array();
    }
  }
  return json;
}

Json attentions_json(const PairRecord& record) {
  Json json = Json::array();
  for (const auto& [kind, layers] : record.attentions) {
    const CapturedAttention& first = layers.front();
    json.push_back({{"kind", attention_name(kind)},
                    {"layers", layers.size()},
                    {"heads", first.heads()},
                    {"rows", first.queries()},
                    {"columns", first.keys()},
                    {"scale", first.factor()},
                    {"causal", first.causal()}});
  }
  return json;
}

// Of each row of [1,T,D].
std::vector<double> row_norms(const Tensor& x) {
  const Tensor dense = x.contiguous();
  std::vector<double> norms;
  for (Dim t = 0; t < dense.size(1); ++t) {
    const float* row = dense.data<float>() + t * dense.size(2);
    double sum = 0;
    for (Dim i = 0; i < dense.size(2); ++i) sum += static_cast<double>(row[i]) * row[i];
    norms.push_back(std::sqrt(sum));
  }
  return norms;
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// One sub-layer of a stack, of "decoder.layers.0.cross_attn" and what its residual connection tapped.
Json flow_of(const std::string& stack, size_t layer, const std::string& sublayer, const Trace& trace) {
  const std::string residual = stack + ".layers." + std::to_string(layer) + "." + sublayer + "_residual.";
  const auto contributions = row_norms(trace.at(residual + "contribution")),
             streams = row_norms(trace.at(residual + "stream"));
  return {{"stack", stack},
          {"layer", layer},
          {"sublayer", sublayer},
          {"contribution", json_number(mean_of(contributions))},
          {"stream", json_number(mean_of(streams))},
          {"contributions", json_numbers(contributions)},
          {"streams", json_numbers(streams)}};
}

Json flow_json(const TranslationModel& model, const Trace& trace) {
  Json json = Json::array();
  for (size_t layer = 0; layer < model.encoder.layers.size(); ++layer) {
    for (const char* name : {"self_attn", "feed_forward"}) json.push_back(flow_of("encoder", layer, name, trace));
  }
  for (size_t layer = 0; layer < model.decoder.layers.size(); ++layer) {
    for (const char* name : {"self_attn", "cross_attn", "feed_forward"}) {
      json.push_back(flow_of("decoder", layer, name, trace));
    }
  }
  return json;
}

Json tensors_json(const Trace& trace) {
  Json json = Json::array();
  for (const TraceEntry& entry : trace.entries()) {
    const TensorSummary summary = entry.summary();
    json.push_back({{"path", entry.path}, {"dtype", dtype_name(summary.dtype)}, {"shape", json_shape(summary.shape)}});
    put_statistics(summary.numbers, json.back());
  }
  return json;
}

}  // namespace

std::string describe_pair(const SavedTranslation& saved, const PairRecord& record, const std::string& id) {
  const PairTokens& pair = record.pair;
  return text_of({{"id", id},
                  {"source", record.source},
                  {"target", record.target},
                  {"loss", json_number(record.loss)},
                  {"source_tokens", tokens_json(pair.source, pair.source_pieces, record.source_bytes)},
                  {"target_tokens", tokens_json(pair.target_input, pair.target_pieces, record.target_bytes)},
                  {"predictions", predictions_json(saved, record)},
                  {"attentions", attentions_json(record)},
                  {"flow", flow_json(*saved.model, record.trace)},
                  {"tensors", tensors_json(record.trace)}});
}

}  // namespace glass
