// The check of options that search() and who prepares for it share.
#pragma once

#include "glassformer/decode/search.h"

namespace glass {

// Throws ValueError for options outside their range.
void check_search_options(const SearchOptions& options);

}  // namespace glass
