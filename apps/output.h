// Data go to standard output, words to standard error.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "glassformer/base/atomic_file.h"
#include "glassformer/base/error.h"

namespace glass::program {

// The reader of our output has gone (head, less): not a failure of ours.
struct BrokenPipe {};

inline void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size()) return;
  if (errno == EPIPE) throw BrokenPipe();
  throw SystemError(std::string("standard output: cannot be written: ") + std::strerror(errno));
}

inline void flush_output() {
  if (std::fflush(stdout) == 0) return;
  if (errno == EPIPE) throw BrokenPipe();
  throw SystemError(std::string("standard output: cannot be written: ") + std::strerror(errno));
}

// The old file or the new one, whole.
inline void write_file(const std::string& path, const std::string& contents) {
  AtomicFile file(path);
  file.write(contents.data(), contents.size());
  file.commit();
}

// Nobody need be listening: words that cannot be written are lost, and nothing else is.
inline void say_raw(const std::string& text) { static_cast<void>(std::fputs(text.c_str(), stderr)); }
inline void say(const std::string& text) { say_raw(text + "\n"); }

}  // namespace glass::program
