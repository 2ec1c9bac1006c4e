// The course of a training run as a picture, from its metrics.jsonl.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "glassformer/inspect/drawing.h"
#include "glassformer/inspect/metrics_file.h"

namespace glass {

// One measure over the updates.
struct TrainingCurve {
  std::string name;                               // as in metrics.jsonl: "loss", "valid_nll"
  std::vector<std::pair<double, double>> points;  // step and value; the finite ones
};

// Every number, in order of their first line.
std::vector<TrainingCurve> curves_of(const std::vector<MetricsLine>& lines);
// Of a metrics.jsonl; throws as read_metrics_file() does.
std::vector<TrainingCurve> read_curves(const std::string& path);

// Charts below each other with one axis of steps: loss, nll and valid_nll; BLEU; learning rate; each if there is one.
// Throws InputError if there is none of these.
Drawing draw_curves(const std::string& title, const std::vector<TrainingCurve>& curves);

}  // namespace glass
