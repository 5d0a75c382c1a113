// The bytes of a file, mapped. Apart from load.cpp since names of the system's headers clash with ONNX's.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "load.hpp"

namespace cli {

file_bytes::~file_bytes() {
  if (!bytes_.empty()) munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

namespace {
memsched::graph_error unreadable(const std::string& path, const std::string& reason) {
  return {memsched::error_code::bad_input, path + ": " + reason, {}, {}};
}
}  // namespace

memsched::result<file_bytes> read_file(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return unreadable(path, std::strerror(errno));
  struct stat about {};
  const bool known = fstat(file, &about) == 0;
  const auto refuse = [&](const char* reason) {
    close(file);
    return unreadable(path, reason);
  };
  if (!known) return refuse("cannot be read");
  if (S_ISDIR(about.st_mode)) return refuse("is a directory");
  if (!S_ISREG(about.st_mode)) return refuse("is a device or a pipe, no file");
  if (about.st_size == 0) return refuse("is empty");
  void* const bytes = mmap(nullptr, static_cast<std::size_t>(about.st_size), PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (bytes == MAP_FAILED) return unreadable(path, std::strerror(errno));
  file_bytes read;
  read.bytes_ = {static_cast<const char*>(bytes), static_cast<std::size_t>(about.st_size)};
  return read;
}

}  // namespace cli
