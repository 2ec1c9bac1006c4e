// Diagnosis of a model of your own: a small language model, once as it should be and once without its causal mask.
#include <cstdio>

#include "glassformer/inspect/doctor.h"
#include "glassformer/inspect/finding_report.h"

using namespace glass;

namespace {

class LanguageModel : public ModuleOf<LanguageModel> {
 public:
  LanguageModel(const StackOptions& options, AttentionMask own_mask)
      : ModuleOf(nullptr, ""),
        embedding(this, "embedding", 50, options.d_model),
        positions(this, "positions", options.d_model),
        body(this, "body", options),
        output(this, "output", embedding.weight),
        mask(std::move(own_mask)) {}
  Tensor forward(const Tensor& ids) const { return output(body(positions.embed(embedding(ids), 0), mask)); }

  TokenEmbedding embedding;
  SinusoidalPositions positions;
  Encoder body;
  Linear output;
  AttentionMask mask;
};

Findings findings_with(const AttentionMask& mask) {
  StackOptions options;
  options.d_model = 32;
  options.heads = 4;
  options.d_ff = 64;
  options.layers = 2;
  LanguageModel model(options, mask);
  Probe probe;
  probe.module = &model;
  probe.logits = [&](const ProbeBatch& batch) { return model(batch.target); };
  probe.target_vocabulary = 50;
  probe.reads_source = false;
  probe.norm = NormScheme::pre;
  return diagnose(probe, random_batch(probe, /*batch=*/8, /*source_length=*/1, /*target_length=*/10));
}

}  // namespace

int main() {
  const Findings healthy = findings_with(AttentionMask::causal()), faulty = findings_with(AttentionMask::none());
  std::printf("with the causal mask:\n%s\nwithout:\n%s", findings_text(healthy).c_str(), findings_text(faulty).c_str());
  return healthy.empty() && faulty.size() == 1 && faulty[0].check == "future leak" ? 0 : 1;
}
