// The bytes of a file, mapped. Apart from load.cpp since names of the system's headers clash with ONNX's.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "load.hpp"

namespace cli {

file_bytes::~file_bytes() {
  if (mapped_ && !bytes_.empty()) munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

namespace {

/// All that comes from a descriptor, up to 2 GiB.
memsched::result<std::string> drained(int file, const std::string& name) {
  constexpr std::size_t largest = std::size_t{1} << 31;
  std::string text;
  for (char piece[1 << 16];;) {
    const ssize_t n = read(file, piece, sizeof piece);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return wrong(name, std::strerror(errno));
    if (n == 0) break;
    text.append(piece, static_cast<std::size_t>(n));
    if (text.size() > largest) return wrong(name, "is larger than 2 GiB");
  }
  if (text.empty()) return wrong(name, "is empty");
  return text;
}

/// The bytes of standard input ("-") or of a pipe. They are read once, and kept for later calls.
memsched::result<std::string_view> stream_bytes(const std::string& path) {
  static std::mutex one_at_a_time;
  using texts = std::map<std::string, memsched::result<std::string>>;
  static texts& kept = *new texts;
  const std::lock_guard lock(one_at_a_time);
  auto at = kept.find(path);
  if (at == kept.end()) {
    const bool standard = path == "-";
    const int file = standard ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return wrong(path, std::strerror(errno));
    at = kept.emplace(path, drained(file, standard ? "standard input" : path)).first;
    if (!standard) close(file);
  }
  if (!at->second) return at->second.error();
  return std::string_view(*at->second);
}

/// Pipes, sockets and terminals, behind links too.
bool is_stream(const std::string& path) {
  struct stat about {};
  if (path == "-") return true;
  if (stat(path.c_str(), &about) != 0) return false;
  if (S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode)) return true;
  return S_ISCHR(about.st_mode) && path == "/dev/stdin" && isatty(STDIN_FILENO) != 0;
}

}  // namespace

memsched::result<file_bytes> read_file(const std::string& path) {
  file_bytes whole;
  if (is_stream(path)) {
    const auto bytes = stream_bytes(path);
    if (!bytes) return bytes.error();
    whole.bytes_ = *bytes;
    return whole;
  }
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
  if (!S_ISREG(about.st_mode)) return refuse("is a device, no file");
  if (about.st_size == 0) return refuse("is empty");
  void* const bytes = mmap(nullptr, static_cast<std::size_t>(about.st_size), PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (bytes == MAP_FAILED) return wrong(path, std::strerror(errno));
  whole.bytes_ = {static_cast<const char*>(bytes), static_cast<std::size_t>(about.st_size)};
  whole.mapped_ = true;
  return whole;
}

}  // namespace cli
