#include <cmath>

#include "inspect/answers.h"
#include "inspect/matrix_file.h"

namespace glass {

namespace {

constexpr Dim usual_map = 48, largest_map = 256;  // cells of a side

const std::vector<std::pair<const char*, AttentionKind>>& kinds() {
  static const std::vector<std::pair<const char*, AttentionKind>> all{
      {"encoder", AttentionKind::encoder}, {"decoder", AttentionKind::decoder}, {"cross", AttentionKind::cross}};
  return all;
}

std::span<const float> cells_of(const Tensor& matrix) {
  return {matrix.data<float>(), static_cast<size_t>(matrix.numel())};
}

// --- all heads

Answer overview(PairRecord& record, AttentionKind kind, const Question& question) {
  const Dim size = whole_number_in(question, "size", 1, largest_map, usual_map);
  const AttentionSurvey& survey = survey_of(record, kind, size);
  return bytes_answer(weight_matrix_file(survey.shape, survey.maps));
}

Answer measures(PairRecord& record, AttentionKind kind) {
  const auto known = record.survey_sizes.find(kind);  // of any size: the measures are the same
  const AttentionSurvey& survey =
      survey_of(record, kind, known == record.survey_sizes.end() ? usual_map : known->second);
  Json heads = Json::array();
  for (size_t i = 0; i < survey.measures.size(); ++i) {
    const HeadMeasures& m = survey.measures[i];
    const auto count = static_cast<size_t>(survey.shape[1]);
    heads.push_back({{"layer", i / count},
                     {"head", i % count},
                     {"entropy", json_number(m.entropy)},
                     {"diagonality", json_number(m.diagonality)},
                     {"first", json_number(m.first)},
                     {"largest", json_number(m.largest)}});
  }
  return json_answer({{"heads", heads}});
}

// --- one head

Answer rows_as_numbers(const CapturedAttention& attention, Dim head, bool as_weights, const std::string& rows) {
  const IndexRange range = range_in("rows", rows, attention.queries());
  const Tensor scores = head_scores(attention, head, range.begin, range.end);
  Tensor matrix = as_weights ? head_weights(attention, scores, range.begin) : scores;
  mark_masked(attention, range.begin, matrix);
  return bytes_answer(float_matrix_file(matrix.shape(), cells_of(matrix)));
}

Answer weight_bytes(const CapturedAttention& attention, const Tensor& weights) {
  std::vector<uint8_t> bytes(static_cast<size_t>(weights.numel()), masked_byte);
  const Dim columns = weights.size(1);
  for (Dim i = 0; i < weights.size(0); ++i) {
    for (Dim at = i * columns; at < i * columns + attention.keys_allowed(i); ++at) {
      bytes[static_cast<size_t>(at)] = weight_byte(static_cast<double>(weights.data<float>()[at]));
    }
  }
  return bytes_answer(weight_matrix_file(weights.shape(), bytes));
}

Answer matrix(const CapturedAttention& attention, Dim head, bool as_weights, const Question& question) {
  const auto rows = question.query.find("rows");
  if (rows != question.query.end()) return rows_as_numbers(attention, head, as_weights, rows->second);
  Tensor scores = head_scores(attention, head, 0, attention.queries());
  if (as_weights) return weight_bytes(attention, head_weights(attention, scores, 0));
  mark_masked(attention, 0, scores);
  return bytes_answer(linear_matrix_file(scores.shape(), cells_of(scores)));
}

Json step_json(const Tensor& matrix, const std::string& formula) {
  Json json{{"shape", json_shape(matrix.shape())}, {"formula", formula}};
  put_statistics(statistics_of(matrix), json);
  return json;
}

// Of the cells that the mask allows; "non_finite" is of them too.
Json masked_step_json(const CapturedAttention& attention, const Tensor& matrix, const std::string& formula) {
  Json json{{"shape", json_shape(matrix.shape())}, {"formula", formula}};
  Statistics statistics;
  for (Dim i = 0; i < matrix.size(0); ++i) {
    statistics.add(matrix.narrowed(0, i, i + 1).narrowed(1, 0, attention.keys_allowed(i)));
  }
  put_statistics(statistics, json);
  return json;
}

double largest_difference(const Tensor& a, const Tensor& b) {
  const std::vector<double> x = a.to_vector(), y = b.to_vector();
  double largest = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double apart = std::abs(x[i] - y[i]);
    if (!(apart <= largest)) largest = apart;  // NaN stays
  }
  return largest;
}

Answer steps(const CapturedAttention& attention, Dim head) {
  const NoGrad values_only;
  const Tensor query = of_head(attention.query, head), key = of_head(attention.key, head),
               value = of_head(attention.value, head), captured = of_head(attention.context, head);
  const Tensor scores = head_scores(attention, head, 0, attention.queries());
  const Tensor weights = head_weights(attention, scores, 0), context = matmul(weights, value);
  const AttentionFormulas formulas =
      attention_formulas(attention.kind == AttentionKind::cross, attention.scale, attention.width());
  return json_answer({{"scale", attention.factor()},
                      {"query", step_json(query, formulas.query)},
                      {"key", step_json(key, formulas.key)},
                      {"value", step_json(value, formulas.value)},
                      {"scores", masked_step_json(attention, scores, formulas.scores)},
                      {"weights", masked_step_json(attention, weights, formulas.weights)},
                      {"context", step_json(context, formulas.context)},
                      {"difference", json_number(largest_difference(context, captured))}});
}

Json row_json(const Tensor& x, Dim head, Dim row) {
  return json_numbers(of_head(x, head).narrowed(0, row, row + 1).to_vector());
}

Answer cell(const CapturedAttention& attention, Dim head, const Question& question) {
  const Dim q = whole_number_in(question, "query", 0, attention.queries() - 1);
  const Dim k = whole_number_in(question, "key", 0, attention.keys() - 1);
  const AttentionCell cell = attention_cell(attention, head, q, k);
  Json json{{"query", row_json(attention.query, head, q)},
            {"key", row_json(attention.key, head, k)},
            {"value", row_json(attention.value, head, k)},
            {"dot", json_number(cell.dot)},
            {"scale", attention.factor()},
            {"score", json_number(cell.score)},
            {"allowed", cell.allowed},
            {"row_max", json_number(cell.row_max)},
            {"row_sum", json_number(cell.row_sum)},
            {"weight", json_number(cell.weight)},
            {"rank", cell.rank > 0 ? Json(cell.rank) : Json(nullptr)},
            {"context", json_numbers(cell.context)},
            {"captured", row_json(attention.context, head, q)}};
  return json_answer(json);
}

Answer of_one_head(const CapturedAttention& attention, Dim head, const std::string& what, const Question& question) {
  if (what == "weights" || what == "scores") return matrix(attention, head, what == "weights", question);
  if (what == "steps") return steps(attention, head);
  if (what == "cell") return cell(attention, head, question);
  refuse_unknown("of a head there are weights, scores, steps and cell, not \"" + what.substr(0, 40) + "\"");
}

// The layer or head of this number.
size_t place_in(const std::string& what, const std::string& text, size_t count) {
  try {
    return static_cast<size_t>(whole_number(what, text, 0, static_cast<int64_t>(count) - 1));
  } catch (const Refusal& refusal) {
    refuse_unknown(refusal.what());
  }
}

}  // namespace

AttentionKind attention_kind(const std::string& name) {
  for (const auto& [known, kind] : kinds()) {
    if (name == known) return kind;
  }
  refuse_unknown("there is no attention \"" + name.substr(0, 40) + "\"; use encoder, decoder or cross");
}

const char* attention_name(AttentionKind kind) {
  for (const auto& [name, known] : kinds()) {
    if (kind == known) return name;
  }
  return "";
}

Answer answer_attention(PairRecord& record, const std::vector<std::string>& rest, const Question& question) {
  if (rest.size() == 2 && rest[1] == "overview") return overview(record, attention_kind(rest[0]), question);
  if (rest.size() == 2 && rest[1] == "measures") return measures(record, attention_kind(rest[0]));
  if (rest.size() != 4) refuse_unknown("attention: ask for {kind}/overview or {kind}/{layer}/{head}/weights");
  const auto& layers = record.attentions.at(attention_kind(rest[0]));
  const CapturedAttention& attention = layers[place_in("layer", rest[1], layers.size())];
  const size_t head = place_in("head", rest[2], static_cast<size_t>(attention.heads()));
  return of_one_head(attention, static_cast<Dim>(head), rest[3], question);
}

}  // namespace glass
