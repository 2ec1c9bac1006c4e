#include "glassformer/base/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "glassformer/base/error.h"

namespace glass {

namespace {

std::string folder_of(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

// A link stays, and what it leads to is replaced; nothing there yet: the path itself.
std::string behind_links(const std::string& path) {
  std::error_code error;
  const auto real = std::filesystem::canonical(path, error);
  return error ? path : real.string();
}

}  // namespace

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  struct stat there {};
  if (stat(path_.c_str(), &there) == 0 && !S_ISREG(there.st_mode)) {  // a device or a pipe: to be written to
    file_ = open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (file_ < 0) fail("cannot be written");
    return;
  }
  path_ = behind_links(path_);
  // The process and the count keep two writers of the same file apart.
  static std::atomic<unsigned> count{0};
  temporary_ = path_ + ".tmp" + std::to_string(getpid()) + "." + std::to_string(count++);
  file_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file_ < 0) fail("cannot create it");
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::discard() {
  if (file_ >= 0) close(file_);
  file_ = -1;
  if (!temporary_.empty()) unlink(temporary_.c_str());
  temporary_.clear();
}

void AtomicFile::fail(const char* what) {
  const std::string reason = std::strerror(errno);
  discard();
  throw SystemError(path_ + ": " + what + ": " + reason + "; an earlier version is unchanged");
}

void AtomicFile::write(const void* data, size_t bytes) {
  const char* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(file_, next, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot write");
    next += written;
    bytes -= static_cast<size_t>(written);
  }
}

void AtomicFile::commit() {
  if (temporary_.empty()) {  // written to already
    close(std::exchange(file_, -1));
    return;
  }
  if (fsync(file_) != 0) fail("cannot write it to disk");
  const int closed = close(file_);
  file_ = -1;
  if (closed != 0) fail("cannot close");
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot rename the new version into place");
  temporary_.clear();
  sync_folder();
}

// Makes the new name last. A file system that cannot sync a folder at all has no better to offer; a failing disk is
// said.
void AtomicFile::sync_folder() {
  const int folder = open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  const bool failed = fsync(folder) != 0 && errno == EIO;
  close(folder);
  if (failed) throw SystemError(path_ + ": written, but its folder cannot be synced to disk: " + std::strerror(EIO));
}

}  // namespace glass
