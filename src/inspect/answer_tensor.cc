#include <string>
#include <vector>

#include "glassformer/autograd/ops.h"
#include "inspect/answers.h"
#include "inspect/matrix_file.h"
#include "inspect/measure.h"

namespace glass {

namespace {

// Scores and weights are not kept: they are made again, of all heads.
Tensor made_again(const PairRecord& record, const std::string& path) {
  const std::string name = measure::last_name(path);
  for (const auto& [kind, layers] : record.attentions) {
    for (const CapturedAttention& attention : layers) {
      if (attention.path != measure::parent_of(path)) continue;
      const NoGrad values_only;
      Tensors heads;
      for (Dim head = 0; head < attention.heads(); ++head) {
        const Tensor scores = head_scores(attention, head, 0, attention.queries());
        const Tensor matrix = name == "scores" ? scores : head_weights(attention, scores, 0);
        heads.push_back(matrix.reshaped({1, 1, attention.queries(), attention.keys()}));
      }
      return concat(heads, 1);  // [1,H,T,S]
    }
  }
  refuse_unknown("of \"" + path + "\" only statistics are kept");
}

std::vector<std::string> parts_of(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// A part of x: an index takes its axis away, "a:b" a range of it, ":" all.
Tensor sliced(const Tensor& x, const std::string& text) {
  const std::vector<std::string> entries = parts_of(text, ',');
  if (x.rank() == 0 ? !text.empty() : entries.size() != static_cast<size_t>(x.rank())) {
    refuse_question("slice: \"" + text.substr(0, 80) + "\" does not have one entry for each of the " +
                    std::to_string(x.rank()) + " axes of " + x.shape().text() + "; an entry is 3, 0:8 or :");
  }
  Tensor part = x;
  Shape kept;
  for (int axis = 0; axis < x.rank(); ++axis) {
    const std::string& entry = entries[static_cast<size_t>(axis)];
    const bool is_index = entry.find(':') == std::string::npos;
    IndexRange range{0, x.size(axis)};
    if (is_index) {
      range.begin = whole_number("slice", entry, 0, x.size(axis) - 1);
      range.end = range.begin + 1;
    } else if (entry != ":") {
      range = range_in("slice", entry, x.size(axis));
    }
    part = part.narrowed(axis, range.begin, range.end);
    if (!is_index) kept.append(range.end - range.begin);
  }
  return part.contiguous().reshaped(kept);
}

std::string whole_slice(int rank) {
  std::string text;
  for (int axis = 0; axis < rank; ++axis) text += axis == 0 ? ":" : ",:";
  return text;
}

void check_count(const Tensor& part, Dim most) {
  if (part.numel() <= most) return;
  refuse_size("the slice holds " + std::to_string(part.numel()) + " numbers, at most " + std::to_string(most) +
              " go into one answer; ask for a smaller one, as slice=0,0:8,:");
}

Answer tensor_file(const Tensor& part) {
  constexpr Dim most = 4'000'000;
  check_count(part, most);
  const Tensor numbers = part.to(DType::f32).contiguous();
  return bytes_answer(
      float_matrix_file(numbers.shape(), {numbers.data<float>(), static_cast<size_t>(numbers.numel())}));
}

}  // namespace

Answer answer_tensor(const PairRecord& record, const std::string& path, const Question& question) {
  if (!record.trace.has(path))
    refuse_unknown("the trace has no tensor \"" + path.substr(0, 80) + "\"; GET traces/{id} lists them");
  const TraceEntry& entry = record.trace.entry(path);
  const Tensor whole = entry.value.defined() ? entry.value : made_again(record, path);
  const auto slice = question.query.find("slice"), form = question.query.find("as");
  const Tensor part = sliced(whole, slice == question.query.end() ? whole_slice(whole.rank()) : slice->second);
  if (form != question.query.end()) {
    if (form->second != "f32") refuse_question("as: takes f32");
    return tensor_file(part);
  }
  constexpr Dim most = 16'384;
  check_count(part, most);
  return json_answer({{"path", path},
                      {"dtype", dtype_name(whole.dtype())},
                      {"shape", json_shape(whole.shape())},
                      {"slice", json_shape(part.shape())},
                      {"values", json_numbers(part.to_vector())}});
}

}  // namespace glass
