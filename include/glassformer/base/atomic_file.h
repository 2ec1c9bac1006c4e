// Files that are either the old version or the new one, whole, whatever happens in between.
#pragma once

#include <cstddef>
#include <string>

namespace glass {

// Collects a file's new contents in a temporary file of the same folder. commit() syncs it, renames it over `path` and
// syncs the folder. Any failure, and destruction without commit(), removes the temporary file and leaves the old
// version. A link at `path` stays and what it leads to is replaced; a device or a pipe there is written to. Every
// function throws SystemError with the path and the system's reason. Several threads and processes may write the same
// path at once: the last to commit wins, whole.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, size_t bytes);
  void commit();

 private:
  [[noreturn]] void fail(const char* what);
  void discard();
  void sync_folder();

  std::string path_, temporary_;
  int file_ = -1;
};

}  // namespace glass
