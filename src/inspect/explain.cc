#include "glassformer/inspect/explain.h"

#include <cmath>
#include <map>

#include "glassformer/base/error.h"
#include "glassformer/base/random.h"
#include "glassformer/data/unicode.h"
#include "glassformer/decode/search.h"
#include "glassformer/nn/init.h"
#include "glassformer/nn/positions.h"

namespace glass {

namespace {

using Names = std::vector<std::string>;

// What the modules say of one attention, and who the rows and columns are.
struct Recorded {
  Trace trace;
  std::string path;
  Dim heads = 1;
  AttentionScale scale;
  AttentionMask mask;
  Names queries, keys;
  bool from_memory = false;  // cross-attention

  const Tensor& at(const std::string& name) const { return trace.at(path.empty() ? name : path + "." + name); }
};

// [1,H,rows,columns] -> [rows,columns] of one head
Tensor of_head(const Tensor& x, Dim head) {
  return x.narrowed(1, head, head + 1).contiguous().reshaped({x.size(2), x.size(3)});
}

Names numbered(const std::string& letter, Dim count) {
  Names names;
  for (Dim i = 0; i < count; ++i) names.push_back(letter + std::to_string(i));
  return names;
}

Tensor allowed_by(const AttentionMask& mask, Dim head, const Tensor& scores) {
  Tensor allowed = Tensor::empty(scores.shape(), DType::boolean);
  bool* next = allowed.data<bool>();
  for (Dim query = 0; query < scores.size(0); ++query) {
    for (Dim key = 0; key < scores.size(1); ++key) *next++ = mask.may_attend(0, head, query, key);
  }
  return allowed;
}

std::string scale_text(const AttentionScale& scale, Dim width) {
  if (!scale.fixed_factor()) return " / √" + std::to_string(width);
  return *scale.fixed_factor() == 1 ? "" : " · " + std::to_string(*scale.fixed_factor());
}

std::vector<ShapeOnTheWay> shape_walk(const Recorded& r) {
  const Tensor &q = r.at("query_heads"), &k = r.at("key_heads"), &scores = r.at("scores"), &context = r.at("context");
  const Dim batch = q.size(0), heads = q.size(1), t = q.size(2), width = q.size(3), s = k.size(2), d = heads * width;
  std::vector<ShapeOnTheWay> walk{{"input", "[B,T,D]", {batch, t, d}}};
  if (r.from_memory) walk.push_back({"memory, for key and value", "[B,S,D]", {batch, s, d}});
  walk.push_back({"query = input Wᵀ + b; key and value alike", "[B,T,D]", {batch, t, d}});
  walk.push_back({"D columns read as H heads of K", "[B,T,H,K]", {batch, t, heads, width}});
  walk.push_back({"heads moved before positions", "[B,H,T,K]", q.shape()});
  walk.push_back({"scores, weights", "[B,H,T,S]", scores.shape()});
  walk.push_back({"weighted sums of values", "[B,H,T,K]", context.shape()});
  walk.push_back({"heads moved back", "[B,T,H,K]", {batch, t, heads, width}});
  walk.push_back({"heads side by side", "[B,T,D]", {batch, t, d}});
  walk.push_back({"output projection", "[B,T,D]", {batch, t, d}});
  return walk;
}

AttentionExplanation explanation_of(const Recorded& r, Dim head) {
  AttentionExplanation out;
  out.path = r.path;
  out.heads = r.heads;
  out.head = head;
  out.walk = shape_walk(r);
  const Tensor query = of_head(r.at("query_heads"), head), key = of_head(r.at("key_heads"), head),
               value = of_head(r.at("value_heads"), head), scores = of_head(r.at("scores"), head);
  const Dim width = query.size(1);
  out.scale = r.scale.factor(width);
  const AttentionFormulas formulas = attention_formulas(r.from_memory, r.scale, width);
  const Tensor allowed = allowed_by(r.mask, head, scores);
  const Names columns = numbered("k", width);
  out.steps = {
      {1, "query", formulas.query, "[T,K]", query, r.queries, columns, {}},
      {1, "key", formulas.key, r.from_memory ? "[S,K]" : "[T,K]", key, r.keys, columns, {}},
      {1, "value", formulas.value, r.from_memory ? "[S,K]" : "[T,K]", value, r.keys, columns, {}},
      {2, "scores", formulas.scores, "[T,S]", scores, r.queries, r.keys, allowed},
      {3, "weights", formulas.weights, "[T,S]", of_head(r.at("weights"), head), r.queries, r.keys, allowed, true},
      {4, "context", formulas.context, "[T,K]", of_head(r.at("context"), head), r.queries, columns, {}},
  };
  return out;
}

Dim checked_place(const char* what, Dim place, Dim count) {
  const Dim from_start = place < 0 ? place + count : place;
  if (from_start < 0 || from_start >= count) {
    throw InputError(std::string("explain: there is no ") + what + " " + std::to_string(place) + "; the model has " +
                     std::to_string(count) + ", counted from 0");
  }
  return from_start;
}

Names words_of(const std::string& text) {
  Names words;
  for (const std::u32string& word : split_at_spaces(to_code_points(text))) words.push_back(to_utf8(word));
  if (words.empty()) throw InputError("explain: no word to attend to; give a sentence, as \"cat sat mat\"");
  return words;
}

std::vector<int64_t> word_ids(const Names& words) {
  std::map<std::string, int64_t> ids;
  std::vector<int64_t> out;
  for (const std::string& word : words) out.push_back(ids.try_emplace(word, ids.size()).first->second);
  return out;
}

Names pieces_of(const Vocabulary& vocabulary, const std::vector<int32_t>& tokens) {
  Names pieces;
  for (const int32_t token : tokens) pieces.push_back(vocabulary.piece(token));
  return pieces;
}

Tensor one_row(const std::vector<int32_t>& tokens) {
  return Tensor::from(tokens, {1, static_cast<Dim>(tokens.size())});
}

const MultiHeadAttention& attention_of(const TranslationModel& model, AttentionKind kind, Dim layer,
                                       std::string& path) {
  const bool in_encoder = kind == AttentionKind::encoder;
  const size_t layers = in_encoder ? model.encoder.layers.size() : model.decoder.layers.size();
  const Dim place = checked_place("layer", layer, static_cast<Dim>(layers));
  const auto at = static_cast<size_t>(place);
  const MultiHeadAttention& attention = in_encoder                       ? model.encoder.layers[at].self_attn
                                        : kind == AttentionKind::decoder ? model.decoder.layers[at].self_attn
                                                                         : model.decoder.layers[at].cross_attn;
  path = attention.path();
  return attention;
}

}  // namespace

AttentionFormulas attention_formulas(bool from_memory, const AttentionScale& scale, Dim width) {
  const std::string from = from_memory ? "memory" : "x";
  return {"Q = x W_Qᵀ + b",
          "K = " + from + " W_Kᵀ + b",
          "V = " + from + " W_Vᵀ + b",
          "Q Kᵀ" + scale_text(scale, width),
          "softmax of each row over the keys",
          "weights V"};
}

AttentionExplanation explain_fresh(const std::string& text, const FreshAttention& options, Dim head) {
  const Names words = words_of(text);
  if (options.d_model < 1 || options.heads < 1 || options.d_model % options.heads != 0) {
    throw InputError("explain: d_model " + std::to_string(options.d_model) + " is not divisible by heads " +
                     std::to_string(options.heads) + "; each head has d_model/heads columns");
  }
  const std::vector<int64_t> ids = word_ids(words);
  const auto count = static_cast<Dim>(words.size());
  TokenEmbedding embedding(nullptr, "embedding", count, options.d_model);
  const SinusoidalPositions positions(nullptr, "positions", options.d_model);
  MultiHeadAttention attention(nullptr, "", {options.d_model, options.heads, 0.0, options.scale});
  initialize(embedding, {}, hash_combine(options.seed, 1));
  initialize(attention, {}, options.seed);
  const NoGrad values_only;
  const Tensor x = positions.embed(embedding(Tensor::from(ids, {1, count})), 0);  // [1,T,D]
  const Trace trace = Trace::record([&] { attention(x, options.mask); });
  return explanation_of({trace, "", options.heads, options.scale, options.mask, words, words},
                        checked_place("head", head, options.heads));
}

AttentionExplanation explain_model(const SavedTranslation& saved, const std::string& source,
                                   const std::optional<std::string>& target, AttentionKind kind, Dim layer, Dim head) {
  std::vector<int32_t> in = saved.source->encode(source);
  in.push_back(eos_token);
  const Tensor ids = one_row(in), lengths = Tensor::from(std::vector<int32_t>{static_cast<int32_t>(in.size())}, {1});
  const NoGrad values_only;
  std::vector<int32_t> out =
      target ? saved.target->encode(*target) : search(*saved.model, ids, lengths, {})[0][0].tokens;
  out.insert(out.begin(), bos_token);

  Recorded recorded;
  const MultiHeadAttention& attention = attention_of(*saved.model, kind, layer, recorded.path);
  recorded.heads = attention.heads;
  recorded.scale = attention.scale;
  if (kind == AttentionKind::decoder) recorded.mask = AttentionMask::causal();  // the only sentence has no padding
  recorded.from_memory = kind == AttentionKind::cross;
  recorded.queries = kind == AttentionKind::encoder ? pieces_of(*saved.source, in) : pieces_of(*saved.target, out);
  recorded.keys = kind == AttentionKind::decoder ? recorded.queries : pieces_of(*saved.source, in);
  recorded.trace = Trace::record([&] { (*saved.model)(ids, lengths, one_row(out)); });
  return explanation_of(recorded, checked_place("head", head, recorded.heads));
}

}  // namespace glass
