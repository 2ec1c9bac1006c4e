// Findings in words for a person, and as JSON for a program.
#pragma once

#include <string>

#include "glassformer/inspect/finding.h"

namespace glass {

// A paragraph a finding; one line that says so if there is none.
std::string findings_text(const Findings& findings);

// {"healthy", "findings": [{"check", "severity", "certainty", "what", "places", "step", "evidence": [{"name",
// "measured", "healthy"}], "cause", "remedy", "also"}]}. NaN and infinities are strings; a step that is not known is
// null.
std::string findings_json(const Findings& findings);

}  // namespace glass
