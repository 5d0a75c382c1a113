// The public parts of a generated library: its header, its function, and the buffers of its program.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <memsched/emit/cmsis_nn.hpp>
#include <memsched/emit/emission.hpp>
#include <memsched/emit/model_in_flash.hpp>
#include <memsched/emit/words.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// Inputs or outputs of the library.
struct library_ends {
  std::vector<std::int64_t> code{};
  std::size_t count = 0;  ///< of the pieces of code
  struct end {
    std::string name;
    const typed_tensor* like;
    extents size;
    std::optional<std::vector<std::int64_t>> shape;
  };
  std::vector<end> list{};
};

/// A text with the library's name in place of NAME, and another word replaced.
inline std::string with_name(std::string s, const std::string& name, const std::string& word = "NAME_H",
                             const std::string& by = "NAME_H") {
  const auto replace = [&](const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = s.find(from, at)) != s.npos; at += to.size()) s.replace(at, from.size(), to);
  };
  replace(word, by);
  std::string upper = name;
  for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  for (const std::string function : {"_run", "_model", "_check_model"}) replace("NAME" + function, name + function);
  replace("\"NAME.h\"", "\"" + name + ".h\"");
  replace("NAME", upper);
  return s;
}

inline bytes bytes_of(const library_ends::end& x) {
  return size_of(x.like->element) * static_cast<bytes>(x.size.elements());
}
inline const char* type_name(element e) {
  return e == element::float32 ? "float" : e == element::uint8 ? "uint8_t" : "int8_t";
}

/// The size of the arena, with room for functions of CMSIS-NN after the tensors if there are such.
inline std::string c_arena(bytes size, const cmsis_scratch* room) {
  if (room == nullptr) return "#define NAME_ARENA_BYTES " + std::to_string(size) + "\n";
  return "#define NAME_ACTIVATION_BYTES " + std::to_string((size + 3) / 4 * 4) +
         "\n/* What CMSIS-NN asks for; where it asks for more, plain kernels run. */\n#ifndef NAME_SCRATCH_BYTES\n"
         "#if defined(__ARM_FEATURE_MVE)\n#define NAME_SCRATCH_BYTES " +
         std::to_string(room->helium) + "\n#else\n#define NAME_SCRATCH_BYTES " + std::to_string(room->other) +
         "\n#endif\n#endif\n#define NAME_ARENA_BYTES (NAME_ACTIVATION_BYTES + NAME_SCRATCH_BYTES)\n";
}

/// `room`: for functions of CMSIS-NN, if it calls any.
inline std::string c_header(const std::string& title, const emission& e, const library_ends& in, const library_ends& out,
                            const cmsis_scratch* room) {
  std::string s = "/* " + title +
                  ". C99 or C++. */\n#ifndef NAME_H\n#define NAME_H\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n" +
                  c_arena(std::max<bytes>(1, e.arena), room) + "#define NAME_ARENA_ALIGNMENT 4\n";
  for (const auto& [what, all] : {std::pair{"INPUT", &in}, std::pair{"OUTPUT", &out}}) {
    const std::string one = std::string("#define NAME_") + what;
    s += "\n" + one + "S " + std::to_string(all->list.size()) + "\n";
    for (std::size_t i = 0; i < all->list.size(); ++i) {
      const auto& x = all->list[i];
      const std::string head = one + std::to_string(i) + "_";
      std::vector<std::int64_t> shape = x.shape ? *x.shape : std::vector{x.size.rows, x.size.columns, x.size.channels};
      std::string dims;
      for (const std::int64_t d : shape) dims += (dims.empty() ? "" : ", ") + std::to_string(d);
      s += head + "LABEL \"" + c_quoted(x.name) + "\"\n" + head + "TYPE " + type_name(x.like->element) + "\n" + head +
           "BYTES " + std::to_string(bytes_of(x)) + "\n" + head + "RANK " + std::to_string(shape.size()) + "\n" + head +
           "SHAPE {" + (dims.empty() ? "1" : dims) + "}\n";
      if (x.like->quant.scale != 0)
        s += head + "SCALE " + c_value(x.like->quant.scale) + "\n" + head + "ZERO_POINT (" +
             std::to_string(x.like->quant.zero_point) + ")\n";
    }
  }
  if (!e.model.empty()) s += c_model_declarations(e.model);
  s +=
      "\n/* Computes the outputs from the inputs. `in` and `out` name as many buffers as there are inputs and outputs, each of\n"
      "   so many bytes, elements by rows, columns, channels. `arena`: NAME_ARENA_BYTES bytes; where NAME_STATIC_ARENA is\n"
      "   defined when the library is compiled, 0 stands for one of its own. Keeps nothing from one call to the next. 0; or 1\n"
      "   where a pointer is missing. */\n"
      "int NAME_run(const void *const *in, void *const *out, void *arena);\n\n"
      "#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
  return with_name(s, e.name);
}

/// The buffers of the program.
inline std::string c_buffers(const library_ends& in, const library_ends& out, bool has_model) {
  std::string s =
      std::string("#define HAS_MODEL ") + (has_model ? "NAME_check_model(NAME_MODEL, NAME_MODEL_BYTES)" : "1") + "\n" +
      "static union {\n  float aligned;\n  unsigned char bytes[NAME_ARENA_BYTES];\n} arena_;\n#define arena arena_.bytes\n";
  for (const auto& [what, all] : {std::pair{"in", &in}, std::pair{"out", &out}}) {
    std::string names, sizes;
    for (std::size_t i = 0; i < all->list.size(); ++i) {
      const std::string name = what + std::to_string(i);
      s += "static unsigned char " + name + "[" + std::to_string(std::max<bytes>(1, bytes_of(all->list[i]))) + "];\n";
      names += name + ", ", sizes += std::to_string(bytes_of(all->list[i])) + ", ";
    }
    s += std::string("static void *") + what + "_buffers[] = {" + names + "0};\nstatic const size_t " + what +
         "_bytes[] = {" + sizes + "0};\n";
  }
  return s;
}

/// The public function.
inline std::string c_runner(bool real, const std::string& name, std::size_t count) {
  return with_name(R"c(
/* The next image of the program. */
static const code_word *next_image(const code_word *at, struct image *x, int rows, int columns, int channels) {
  x->count = *at++;
  x->list = at;
  x->rows = rows;
  x->columns = columns;
  x->channels = channels;
  return at + x->count;
}

int NAME_run(const void *const *in, void *const *out, void *arena) {
  const code_word *at = code;
  struct layer l;
#ifdef NAME_STATIC_ARENA
  static union {
    float aligned;
    unsigned char bytes[NAME_ARENA_BYTES];
  } own;
  if (!arena) arena = own.bytes;
#endif
  if (!arena || !in || !out) return 1;
  (void)plus, (void)dot, (void)tap, (void)bare, (void)completed, (void)converted, (void)weights, (void)biases, (void)reals;)c" +
                       std::string(real ? "" : "\n  (void)factors, (void)shifts, (void)tables, (void)times;") + R"c(
  l.arena = (unsigned char *)arena;
  l.given = in;
  l.wanted = out;
  for (int i = 0; i < COUNT; ++i) {
    l.k = kernels + *at++;
    for (int j = 0; j < images_of(&l); ++j)
      at = j == 0 ? next_image(at, l.in, in_rows_of(&l), in_columns_of(&l), in_channels_of(&l))
                  : next_image(at, l.in + j, other_rows_of(&l), other_columns_of(&l), other_channels_of(&l));
    at = next_image(at, &l.out, out_rows_of(&l), out_columns_of(&l), out_channels_of(&l));
    if (kind_of(&l) == take || kind_of(&l) == give) exchange(&l, &l.out);
    else
      for (int j = 0; j < l.out.count; ++j) run_part(&l, parts + l.out.list[j]);
  }
  return 0;
}
)c",
                   name, "COUNT", std::to_string(count));
}

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
