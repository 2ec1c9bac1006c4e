// What a check found wrong: in plain words, with its numbers, its likely cause and what to do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace glass {

// One number a finding rests on, beside what theory gives for this model, in words where it is no number.
struct Evidence {
  std::string name;     // "deviation of the scores"
  double measured = 0;  // not a number where nothing could be measured
  std::string healthy;  // "0.51 by theory (rule of thumb 0.5 to 1.0)"
};

enum class Certainty {
  certain,   // shown by an experiment that has no other explanation
  likely,    // a number far from what theory gives
  possible,  // worth a look
};

enum class Severity {
  fault,  // wrong, or about to be
  note,   // worth knowing; a healthy model may have it
};

struct Finding {
  std::string check;                // "score scale": the name in docs/doctor.md
  std::string what;                 // one sentence
  std::vector<std::string> places;  // paths of modules or parameters, lines of files; the worst first
  std::optional<int64_t> step;      // of the run
  std::vector<Evidence> evidence;   // of the worst place
  std::string cause, remedy;        // one sentence each
  Certainty certainty = Certainty::likely;
  Severity severity = Severity::fault;
  std::vector<std::string> also;  // names of checks that fail because of this one
};
using Findings = std::vector<Finding>;

// What one fault brings with it is not a second fault: a finding whose check is a known consequence of another one's
// goes into that one's `also`. The order stays.
Findings without_consequences(Findings findings);

bool has_faults(const Findings& findings);  // any that is not a note

}  // namespace glass
