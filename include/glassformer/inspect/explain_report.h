// An explanation in words and numbers: for a person, and for a program.
#pragma once

#include <string>

#include "glassformer/inspect/explain.h"

namespace glass {

struct ExplainTextOptions {
  bool color = false;     // cells on their colour, by the terminal's 24-bit escapes
  int step = 0;           // only this one, 1 to 4; 0 for all, with the walk of shapes
  Dim most_columns = 12;  // wider matrices end in "…"; 0 for no limit
};

// Aligned columns, a worked number at each step, masked cells as "masked".
std::string explanation_text(const AttentionExplanation& explanation, const ExplainTextOptions& options);

// {"path", "head", "heads", "scale", "walk": [{"what", "axes", "shape"}], "steps": [{"step", "name", "formula", "axes",
// "shape", "rows", "columns", "values", "masked"}]}. NaN and infinities are strings; masked cells are null in "values"
// of the scores and true in "masked".
std::string explanation_json(const AttentionExplanation& explanation, int step);

}  // namespace glass
