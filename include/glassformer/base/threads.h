// The one way to use several cores. Work is cut into chunks whose boundaries depend on the amount of work alone, never
// on the number of threads, and no two chunks write the same memory: so results have the same bits for any number of
// threads.
#pragma once

#include <cstdint>
#include <functional>

namespace glass {

// The number of threads parallel_for uses: what set_threads said, else OMP_NUM_THREADS, else the cores this process may
// run on. Process-wide.
int threads();

// Throws ValueError if count < 1. Safe to call between, not during, computations of other threads.
void set_threads(int count);

// Calls body(begin, end) once for each chunk [0,chunk), [chunk,2·chunk), … of [0,count), on several threads, in no
// particular order. Inside the body parallel_for runs serially, as does oneDNN. An exception of a body is rethrown
// here. Several threads may call it at once: one of them has the helpers, the others work alone meanwhile.
void parallel_for(int64_t count, int64_t chunk, const std::function<void(int64_t begin, int64_t end)>& body);

}  // namespace glass
