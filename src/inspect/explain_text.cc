#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "glassformer/data/unicode.h"
#include "glassformer/inspect/explain_report.h"
#include "glassformer/inspect/heat_map.h"

namespace glass {

namespace {

constexpr const char* titles[] = {"Project: every token asks (query), offers (key) and tells (value)",
                                  "Scores: how well each query fits each key",
                                  "Softmax: each row becomes shares that add up to 1",
                                  "Weighted sum: every token takes from the values what its weights say"};

std::string padded(const std::string& text, int width, bool to_the_right = false) {
  const std::string blanks(static_cast<size_t>(std::max(0, width - display_width(text))), ' ');
  return to_the_right ? blanks + text : text + blanks;
}

int longest(const std::vector<std::string>& names) {
  int width = 0;
  for (const std::string& name : names) width = std::max(width, display_width(name));
  return width;
}

bool is_masked(const HeadMatrix& m, Dim row, Dim column) {
  return m.allowed.defined() && m.allowed.at({row, column}) == 0;
}

std::string on_color(const std::string& text, Color c) {
  return fmt::format("\x1b[48;2;{};{};{}m\x1b[38;5;{}m{}\x1b[0m", c.red, c.green, c.blue, c.is_dark() ? 231 : 16, text);
}

class Table {
 public:
  Table(const HeadMatrix& matrix, const ExplainTextOptions& options)
      : m_(matrix),
        color_(options.color),
        shown_(options.most_columns > 0 ? std::min(matrix.values.size(1), options.most_columns)
                                        : matrix.values.size(1)),
        names_(longest(matrix.rows)),
        cell_(std::max(8, longest(matrix.columns) + 1)),
        largest_(largest_absolute(matrix.values)) {}

  std::string text() const {
    std::string out = "   " + std::string(static_cast<size_t>(names_), ' ');
    for (Dim j = 0; j < shown_; ++j) out += padded(m_.columns[static_cast<size_t>(j)], cell_, true);
    out += shown_ < m_.values.size(1) ? "  …" : "";
    out += m_.is_share ? "      sum\n" : "\n";
    for (Dim i = 0; i < m_.values.size(0); ++i) out += row(i);
    if (shown_ < m_.values.size(1)) out += fmt::format("   ({} of {} columns)\n", shown_, m_.values.size(1));
    return out;
  }

 private:
  std::string row(Dim i) const {
    std::string out = "   " + padded(m_.rows[static_cast<size_t>(i)], names_);
    double sum = 0;
    for (Dim j = 0; j < m_.values.size(1); ++j) {
      sum += m_.values.at({i, j});
      if (j < shown_) out += cell(i, j);
    }
    out += shown_ < m_.values.size(1) ? "  …" : "";
    return out + (m_.is_share ? fmt::format("{:9.3f}\n", sum) : "\n");
  }

  std::string cell(Dim i, Dim j) const {
    if (is_masked(m_, i, j)) return padded("masked", cell_, true);
    const double value = m_.values.at({i, j});
    const std::string text = padded(fmt::format("{:.3f}", value), cell_, true);
    return color_ ? on_color(text, cell_color(m_, value, largest_)) : text;
  }

  const HeadMatrix& m_;
  bool color_;
  Dim shown_;
  int names_, cell_;
  double largest_;
};

// The numbers of one cell, worked out: the last query, and the key it gives most weight.
class Worked {
 public:
  explicit Worked(const AttentionExplanation& e)
      : e_(e), query_(matrix("weights").values.size(0) - 1), key_(heaviest_key()) {}

  std::string at(int step) const {
    return step == 2 ? score() : step == 3 ? weight() : step == 4 ? context() : std::string();
  }

 private:
  const HeadMatrix& matrix(const std::string& name) const {
    return *std::find_if(e_.steps.begin(), e_.steps.end(), [&](const HeadMatrix& m) { return m.name == name; });
  }
  double value(const char* name, Dim row, Dim column) const { return matrix(name).values.at({row, column}); }
  const std::string& query_name() const { return matrix("scores").rows[static_cast<size_t>(query_)]; }
  const std::string& key_name(Dim key) const { return matrix("scores").columns[static_cast<size_t>(key)]; }

  Dim heaviest_key() const {
    const Tensor& weights = matrix("weights").values;
    Dim best = 0;
    for (Dim j = 1; j < weights.size(1); ++j) {
      if (weights.at({query_, j}) > weights.at({query_, best})) best = j;
    }
    return best;
  }

  std::string score() const {
    const Dim width = matrix("query").values.size(1), shown = std::min<Dim>(width, most_terms);
    std::string terms;
    for (Dim k = 0; k < shown; ++k) {
      terms += fmt::format("{}{:.3f}·{:.3f}", k > 0 ? " + " : "", value("query", query_, k), value("key", key_, k));
    }
    return fmt::format("   {} on {}: ({}{}) · {:.4g} = {:.3f}\n", query_name(), key_name(key_), terms,
                       shown < width ? " + …" : "", e_.scale, value("scores", query_, key_));
  }

  std::string weight() const {
    const HeadMatrix& scores = matrix("scores");
    std::string terms;
    Dim shown = 0, allowed = 0;
    for (Dim j = 0; j < scores.values.size(1); ++j) {
      if (is_masked(scores, query_, j)) continue;
      ++allowed;
      if (shown == most_terms) continue;
      terms += fmt::format("{}exp({:.3f})", shown > 0 ? " + " : "", scores.values.at({query_, j}));
      ++shown;
    }
    return fmt::format("   {} on {}: exp({:.3f}) / ({}{}) = {:.3f}\n", query_name(), key_name(key_),
                       scores.values.at({query_, key_}), terms, shown < allowed ? " + …" : "",
                       value("weights", query_, key_));
  }

  std::string context() const {
    const HeadMatrix& weights = matrix("weights");
    std::string terms;
    Dim shown = 0, allowed = 0;
    for (Dim j = 0; j < weights.values.size(1); ++j) {
      if (is_masked(weights, query_, j)) continue;
      ++allowed;
      if (shown == most_terms) continue;
      terms +=
          fmt::format("{}{:.3f}·{:.3f}", shown > 0 ? " + " : "", weights.values.at({query_, j}), value("value", j, 0));
      ++shown;
    }
    return fmt::format("   {}, column k0: {}{} = {:.3f}\n", query_name(), terms, shown < allowed ? " + …" : "",
                       value("context", query_, 0));
  }

  static constexpr Dim most_terms = 6;
  const AttentionExplanation& e_;
  Dim query_, key_;
};

std::string walk_text(const AttentionExplanation& e) {
  std::string out = "Shapes on the way\n";
  int what = 0, axes = 0;
  for (const ShapeOnTheWay& place : e.walk) {
    what = std::max(what, display_width(place.what));
    axes = std::max(axes, display_width(place.axes));
  }
  for (const ShapeOnTheWay& place : e.walk) {
    out += fmt::format("   {}  {}  {}\n", padded(place.what, what), padded(place.axes, axes), place.shape.text());
  }
  return out;
}

}  // namespace

std::string explanation_text(const AttentionExplanation& e, const ExplainTextOptions& options) {
  std::string out = fmt::format("{}{}head {} of {}\n", e.path, e.path.empty() ? "" : ", ", e.head, e.heads);
  if (options.step == 0) out += "\n" + walk_text(e);
  const Worked worked(e);
  int step = 0;
  for (size_t i = 0; i < e.steps.size(); ++i) {
    const HeadMatrix& matrix = e.steps[i];
    if (options.step != 0 && matrix.step != options.step) continue;
    if (matrix.step != step) out += fmt::format("\n{}. {}\n", matrix.step, titles[matrix.step - 1]);
    step = matrix.step;
    out += fmt::format("   {}: {}   {} = {}\n", matrix.name, matrix.formula, matrix.axes, matrix.values.shape().text());
    out += Table(matrix, options).text();
    const bool last_of_step = i + 1 == e.steps.size() || e.steps[i + 1].step != step;
    if (last_of_step) out += worked.at(step);
  }
  return out;
}

}  // namespace glass
