#include <cmath>
#include <numeric>

#include "inspect/answers.h"
#include "inspect/intervention.h"
#include "inspect/logit_rows.h"

namespace glass {

namespace {

const Json& field(const Json& json, const char* name) {
  if (!json.contains(name)) refuse_question(std::string("the change has no \"") + name + "\"");
  return json.at(name);
}

Dim place_in(const Json& json, const char* name, Dim count) {
  const Json& value = field(json, name);
  if (!value.is_number_integer()) refuse_question(std::string(name) + ": takes a whole number");
  return whole_number(name, value.dump(), 0, count - 1);
}

struct Head {
  AttentionKind kind;
  Dim layer = 0, head = 0;
  const CapturedAttention& attention;
};

Head head_in(const PairRecord& record, const Json& json) {
  const AttentionKind kind = attention_kind(field(json, "kind").get<std::string>());
  const auto& layers = record.attentions.at(kind);
  const Dim layer = place_in(json, "layer", static_cast<Dim>(layers.size()));
  const CapturedAttention& attention = layers[static_cast<size_t>(layer)];
  return {kind, layer, place_in(json, "head", attention.heads()), attention};
}

// Of the keys allowed, made to sum to 1; none elsewhere.
std::vector<double> weights_in(const Json& json, const CapturedAttention& attention, Dim query) {
  const auto weights = field(json, "weights").get<std::vector<double>>();
  if (static_cast<Dim>(weights.size()) != attention.keys()) {
    refuse_question("weights: takes " + std::to_string(attention.keys()) + " numbers, one for each key; got " +
                    std::to_string(weights.size()));
  }
  for (size_t key = 0; key < weights.size(); ++key) {
    if (!std::isfinite(weights[key]) || weights[key] < 0) refuse_question("weights: each is a number of 0 or more");
    if (weights[key] > 0 && static_cast<Dim>(key) >= attention.keys_allowed(query)) {
      refuse_question("weights: query " + std::to_string(query) + " may not attend to key " + std::to_string(key) +
                      ", which comes later; its weight is 0");
    }
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (!(sum > 0) || !std::isfinite(sum)) refuse_question("weights: their sum is above 0, and finite");
  std::vector<double> shares = weights;
  for (double& share : shares) share /= sum;
  return shares;
}

RowEdit edit_in(const PairRecord& record, const Json& json) {
  const Head place = head_in(record, json);
  const Dim query = place_in(json, "query", place.attention.queries());
  return {place.kind, static_cast<size_t>(place.layer), place.head, query, weights_in(json, place.attention, query)};
}

Side side_in(const Json& json) {
  const auto side = field(json, "side").get<std::string>();
  if (side != "source" && side != "target") refuse_question("side: takes source or target");
  return side == "source" ? Side::source : Side::target;
}

uint64_t seed_in(const Json& json) {
  const Json& seed = field(json, "seed");
  if (!seed.is_number_unsigned()) refuse_question("seed: takes a whole number of 0 or more");
  return seed.get<uint64_t>();
}

ChangedOutput changed(TranslationModel& model, const PairRecord& record, const Json& json) {
  const auto change = field(json, "change").get<std::string>();
  if (change == "drop_head") {
    const Head place = head_in(record, json);
    return drop_head(model, record, place.kind, static_cast<size_t>(place.layer), place.head);
  }
  if (change == "edit_row") return edit_row(model, record, edit_in(record, json));
  if (change == "shuffle_positions") return shuffle_positions(model, record, side_in(json), seed_in(json));
  refuse_question("there is no change \"" + change.substr(0, 40) + "\"; use drop_head, edit_row or shuffle_positions");
}

// −log p of each label, and how far the distributions are apart; both sums over the target's rows.
struct Comparison {
  double loss = 0, divergence = 0;
  Json tokens = Json::array();
};

Comparison compare(const Vocabulary& vocabulary, const PairRecord& record, const Tensor& changed) {
  const Tensor own = record.trace.at("logits").contiguous();
  Comparison out;
  for (Dim t = 0; t < own.size(1); ++t) {
    const std::span<const float> before = logit_row(own, t), after = logit_row(changed, t);
    const int32_t label = record.pair.target_output.data<int32_t>()[t];
    const auto log_p = [&](std::span<const float> row) {
      return static_cast<double>(row[static_cast<size_t>(label)]) - log_sum_exp(row);
    };
    out.loss -= log_p(after);
    out.divergence += row_divergence(before, after);
    out.tokens.push_back({{"piece", vocabulary.piece(label)},
                          {"before", json_number(std::exp(log_p(before)))},
                          {"after", json_number(std::exp(log_p(after)))}});
  }
  return out;
}

}  // namespace

Answer answer_intervention(SavedTranslation& saved, const PairRecord& record, const std::string& body) {
  const Json question = json_of_body(body);
  if (!question.is_object()) refuse_question("a change is an object, as {\"change\": \"drop_head\", ...}");
  const ChangedOutput output = changed(*saved.model, record, question);
  const Comparison comparison = compare(*saved.target, record, output.logits);
  const auto rows = static_cast<double>(comparison.tokens.size());
  const Vocabulary& vocabulary = *saved.target;
  return json_answer(
      {{"text", {{"before", vocabulary.decode(output.before)}, {"after", vocabulary.decode(output.after)}}},
       {"loss", {{"before", json_number(record.loss)}, {"after", json_number(comparison.loss / rows)}}},
       {"tokens", comparison.tokens},
       {"divergence", json_number(comparison.divergence / rows)}});
}

}  // namespace glass
