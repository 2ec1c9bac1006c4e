// The course of a training run as a picture, from its metrics.jsonl.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "glassformer/inspect/drawing.h"

namespace glass {

// One measure over the updates.
struct TrainingCurve {
  std::string name;                               // as in metrics.jsonl: "loss", "valid_nll"
  std::vector<std::pair<double, double>> points;  // step and value; the finite ones
};

// Every number of metrics.jsonl, in order of their first line. A last line that was cut off, as a killed run or one
// that still writes may leave it, is passed over. Throws InputError, naming file and line, for anything else that is no
// metrics, or if there are none.
std::vector<TrainingCurve> read_curves(const std::string& path);

// Charts below each other with one axis of steps: loss, nll and valid_nll; BLEU; learning rate; each if there is one.
// Throws InputError if there is none of these.
Drawing draw_curves(const std::string& title, const std::vector<TrainingCurve>& curves);

}  // namespace glass
