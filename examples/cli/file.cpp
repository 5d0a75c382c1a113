// The bytes of a file, mapped. Apart from load.cpp since names of the system's headers clash with ONNX's.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "load.hpp"

namespace cli {

file_bytes::~file_bytes() {
  if (!bytes_.empty()) munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

/// All that comes, up to 2 GiB, in memory of its own.
memsched::result<file_bytes> read_standard_input() {
  constexpr std::size_t largest = std::size_t{1} << 31;
  std::string text;
  for (char piece[1 << 16];;) {
    const ssize_t n = read(STDIN_FILENO, piece, sizeof piece);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return wrong("standard input", std::strerror(errno));
    if (n == 0) break;
    text.append(piece, static_cast<std::size_t>(n));
    if (text.size() > largest) return wrong("standard input", "is larger than 2 GiB");
  }
  if (text.empty()) return wrong("standard input", "is empty");
  void* const bytes = mmap(nullptr, text.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (bytes == MAP_FAILED) return wrong("standard input", std::strerror(errno));
  std::memcpy(bytes, text.data(), text.size());
  file_bytes read;
  read.bytes_ = {static_cast<const char*>(bytes), text.size()};
  return read;
}

memsched::result<file_bytes> read_file(const std::string& path) {
  if (path == "-") return read_standard_input();
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return wrong(path, std::strerror(errno));
  struct stat about {};
  const bool known = fstat(file, &about) == 0;
  const auto refuse = [&](const char* reason) {
    close(file);
    return wrong(path, reason);
  };
  if (!known) return refuse("cannot be read");
  if (S_ISDIR(about.st_mode)) return refuse("is a directory");
  if (!S_ISREG(about.st_mode)) return refuse("is a device or a pipe, no file");
  if (about.st_size == 0) return refuse("is empty");
  void* const bytes = mmap(nullptr, static_cast<std::size_t>(about.st_size), PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (bytes == MAP_FAILED) return wrong(path, std::strerror(errno));
  file_bytes read;
  read.bytes_ = {static_cast<const char*>(bytes), static_cast<std::size_t>(about.st_size)};
  return read;
}

}  // namespace cli
