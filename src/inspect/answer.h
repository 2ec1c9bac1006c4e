// What the parts that answer the inspector's questions share: refusals, JSON, and numbers in questions.
#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "glassformer/inspect/inspector.h"
#include "glassformer/inspect/statistics.h"
#include "glassformer/tensor/tensor.h"

namespace glass {

using Json = nlohmann::ordered_json;

// A question that gets an error for an answer.
class Refusal : public std::runtime_error {
 public:
  Refusal(int status_, const std::string& why) : std::runtime_error(why), status(status_) {}
  int status;
};
[[noreturn]] void refuse_question(const std::string& why);  // 400
[[noreturn]] void refuse_unknown(const std::string& what);  // 404
[[noreturn]] void refuse_size(const std::string& why);      // 413

// NaN and infinities as texts.
Json json_number(double value);
Json json_numbers(const std::vector<double>& values);
Json json_shape(const Shape& shape);
// "min", "max", "mean", "deviation", "non_finite", put into `into`; null where no number is finite.
void put_statistics(const Statistics& statistics, Json& into);

// A question's body. Refuses one that goes deeper than any that is understood, since values are read, copied and
// written by recursion.
Json json_of_body(const std::string& body);
std::string text_of(const Json& json);
Answer json_answer(const Json& json);
Answer error_answer(int status, const std::string& why);
Answer bytes_answer(std::string bytes);

// The whole number that `text` is. Refuses what is none, or is outside of [low, high], naming `name`.
int64_t whole_number(const std::string& name, std::string_view text, int64_t low, int64_t high);
// The question's number of this name, or `otherwise` if there is none.
int64_t whole_number_in(const Question& question, const std::string& name, int64_t low, int64_t high,
                        int64_t otherwise);
// The same, of a number that must be there.
int64_t whole_number_in(const Question& question, const std::string& name, int64_t low, int64_t high);

struct IndexRange {
  Dim begin = 0, end = 0;
};
// "a:b" with 0 <= a < b <= size.
IndexRange range_in(const std::string& name, std::string_view text, Dim size);

}  // namespace glass
