// Diagnosis of what lies in files: a recipe and its data, a model, a run.
#pragma once

#include <functional>
#include <string>

#include "glassformer/data/text.h"
#include "glassformer/decode/saved_model.h"
#include "glassformer/inspect/finding.h"
#include "glassformer/train/recipe.h"

namespace glass {

// Told what is done next, for people who wait.
using DoctorNotes = std::function<void(const std::string&)>;

// Before training: the data, the fresh model on real pairs (the first ones), the learning rate, memory, and (unless
// `try_learning` is off) a small batch learnt by heart. Throws InputError as train() does.
Findings diagnose_recipe(const Recipe& recipe, bool try_learning = true, const DoctorNotes& note = {});

// The fresh model of a run, one of the library's own, on random tokens; quick enough to stand before every run.
Findings diagnose_fresh_model(Module& model, const Recipe& recipe);

// A trained model, on real pairs if there are any, else on random tokens: then heads are not judged.
Findings diagnose_translation(SavedTranslation& saved, const ParallelText& text);

// A file of either task. Source and target are files of aligned lines; empty for none.
Findings diagnose_model(const std::string& path, const std::string& source, const std::string& target);

// A run's folder: its history, and its model (the last one written) on its own validation data if they are still there.
// Throws InputError for a folder without metrics.
Findings diagnose_run(const std::string& directory);

}  // namespace glass
