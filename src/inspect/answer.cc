#include "inspect/answer.h"

#include <charconv>
#include <cmath>

namespace glass {

void refuse_question(const std::string& why) { throw Refusal(400, why); }
void refuse_unknown(const std::string& what) { throw Refusal(404, what); }
void refuse_size(const std::string& why) { throw Refusal(413, why); }

Json json_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

Json json_numbers(const std::vector<double>& values) {
  Json json = Json::array();
  for (const double value : values) json.push_back(json_number(value));
  return json;
}

Json json_shape(const Shape& shape) { return std::vector<Dim>(shape.begin(), shape.end()); }

void put_statistics(const Statistics& s, Json& into) {
  const auto finite = [&](double value) { return s.finite() > 0 ? json_number(value) : Json(nullptr); };
  into["min"] = finite(s.min);
  into["max"] = finite(s.max);
  into["mean"] = finite(s.mean);
  into["deviation"] = finite(s.deviation());
  into["non_finite"] = s.non_finite;
}

Json json_of_body(const std::string& body) {
  constexpr int deepest = 8;
  return Json::parse(body, [](int depth, Json::parse_event_t /*event*/, Json& /*value*/) {
    if (depth > deepest) refuse_question("the question's body has lists in lists in lists; none takes so many");
    return true;
  });
}

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Answer json_answer(const Json& json) { return {200, "application/json", text_of(json)}; }
Answer error_answer(int status, const std::string& why) {
  return {status, "application/json", text_of({{"error", why}})};
}
Answer bytes_answer(std::string bytes) { return {200, "application/octet-stream", std::move(bytes)}; }

int64_t whole_number(const std::string& name, std::string_view text, int64_t low, int64_t high) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < low || number > high) {
    refuse_question(name + ": \"" + std::string(text.substr(0, 40)) + "\" is no whole number from " +
                    std::to_string(low) + " to " + std::to_string(high));
  }
  return number;
}

int64_t whole_number_in(const Question& question, const std::string& name, int64_t low, int64_t high,
                        int64_t otherwise) {
  const auto found = question.query.find(name);
  return found == question.query.end() ? otherwise : whole_number(name, found->second, low, high);
}

int64_t whole_number_in(const Question& question, const std::string& name, int64_t low, int64_t high) {
  if (!question.query.contains(name)) refuse_question("the question has no " + name + "; add " + name + "=0");
  return whole_number_in(question, name, low, high, low);
}

IndexRange range_in(const std::string& name, std::string_view text, Dim size) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) refuse_question(name + ": takes a range, as 0:" + std::to_string(size));
  const Dim begin = whole_number(name, text.substr(0, colon), 0, size);
  const Dim end = whole_number(name, text.substr(colon + 1), 0, size);
  if (begin >= end) refuse_question(name + ": " + std::string(text) + " is empty");
  return {begin, end};
}

}  // namespace glass
