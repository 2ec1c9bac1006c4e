#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "glassformer/autograd/ops.h"
#include "glassformer/inspect/residual_checks.h"
#include "inspect/measure.h"

namespace glass {

using measure::last_name;

namespace {

// The rows of the table that `input` came from; undefined unless one of the parameters is such a table.
Tensor table_rows(const Probe& probe, const ProbeBatch& batch, const Tensor& input) {
  for (const auto& [ids, vocabulary] :
       {std::pair{batch.source, probe.source_vocabulary}, std::pair{batch.target, probe.target_vocabulary}}) {
    if (!ids.defined() || vocabulary == 0 || ids.size(1) != input.size(1)) continue;
    for (const NamedParameter& p : measure::distinct_parameters(*probe.module)) {
      if (p.tensor.shape() == Shape{vocabulary, input.size(2)} && p.initial == Initial::embedding)
        return embedding(p.tensor, ids);
    }
  }
  return {};
}

struct EmbeddingSize {
  double embedding = 0, position = 0;
  double factor = 0;  // over the rows of the table; 0 if there is none
};

EmbeddingSize embedding_size(const Probe& probe, const ProbeBatch& batch, const Tensor& input, const Tensor& encoding) {
  const NoGrad values_only;
  const Tensor added = sub(input, encoding), rows = table_rows(probe, batch, input);
  const double size = measure::rms(added);
  return {size, measure::rms(encoding), rows.defined() ? size / std::max(1e-30, measure::rms(rows)) : 0};
}

Finding embedding_scale(const std::string& path, const EmbeddingSize& s, double root) {
  Finding f;
  f.check = "embedding scale";
  f.what = "the positions drown the tokens: embeddings are added to encodings several times their size";
  f.places = {path};
  f.evidence = {{"size of the embedding over that of the position", s.embedding / s.position, "comparable, above 0.5"},
                {"factor on the rows of the table", s.factor, fmt::format("{:.3g}, √D", root)}};
  f.cause = "the embedding is not multiplied by √D (Vaswani et al., 2017, section 3.4)";
  f.remedy = "multiply the looked-up rows by √D, or start the table with deviation 1";
  return f;
}

}  // namespace

Findings check_embedding_scale(const Probe& probe, const ProbeBatch& batch) {
  Findings findings;
  if (probe.target_vocabulary == 0) return findings;
  const Trace trace = measure::trace_of(probe, batch);
  for (size_t i = 1; i < trace.entries().size(); ++i) {
    const TraceEntry &encoding = trace.entries()[i - 1], &input = trace.entries()[i];
    if (last_name(encoding.path) != "encoding" || !input.path.ends_with("_input")) continue;
    const EmbeddingSize s = embedding_size(probe, batch, input.value, encoding.value);
    const double root = std::sqrt(static_cast<double>(input.value.size(-1)));
    // A table that starts narrow by its scheme but is multiplied by √D is as intended.
    if (s.embedding > 0.5 * s.position || s.factor > 0.5 * root) continue;
    measure::add_place(findings, embedding_scale(input.path, s, root));
  }
  return findings;
}

}  // namespace glass
