// The answers to the inspector's questions, each from what it is about. They refuse by throwing Refusal; InputError and
// other errors of the library come through.
#pragma once

#include <string>
#include <vector>

#include "glassformer/decode/saved_model.h"
#include "inspect/answer.h"
#include "inspect/pair_record.h"

namespace glass {

// --- the model (answer_model.cc)
Json model_summary(const std::string& path, const std::string& task, const Module& model,
                   const TransformerConfig& config, const ModelInfo& info);
Answer answer_model(const Module& model);

// --- a pair (answer_trace.cc, answer_tensor.cc, answer_beam.cc)
PairQuestion pair_question(const std::string& body);
std::string describe_pair(const SavedTranslation& saved, const PairRecord& record, const std::string& id);
Answer answer_tensor(const PairRecord& record, const std::string& path, const Question& question);
Answer answer_beam(const SavedTranslation& saved, const PairRecord& record);

// --- attention (answer_attention.cc): `rest` is what follows "attention/" in the path, in parts
Answer answer_attention(PairRecord& record, const std::vector<std::string>& rest, const Question& question);
AttentionKind attention_kind(const std::string& name);
const char* attention_name(AttentionKind kind);

// --- a change (answer_intervention.cc)
Answer answer_intervention(SavedTranslation& saved, const PairRecord& record, const std::string& body);

// --- a run (answer_run.cc)
bool is_run(const std::string& folder);
Json run_summary(const std::string& folder);       // {"name", "live"}
std::string run_stamp(const std::string& folder);  // another one when the run has gone on
Answer answer_series(const std::string& folder, const Question& question);

}  // namespace glass
