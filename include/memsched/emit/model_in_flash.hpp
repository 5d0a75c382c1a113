// The model's file beside a generated library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <memsched/base/linkage.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// 32 bits of the model's bytes (FNV-1a), as generated code computes them.
inline std::uint32_t checksum_of(std::string_view model) {
  std::uint32_t sum = 2166136261U;
  for (const char c : model) sum = (sum ^ static_cast<unsigned char>(c)) * 16777619U;
  return sum;
}

/// Declarations of the model in the header.
inline std::string c_model_declarations(std::string_view model) {
  return "\n/* The bytes of the model's file, which the library reads: at a multiple of NAME_MODEL_ALIGNMENT, on a little-endian\n"
         "   machine. NAME_model.c has them; compiled with -DNAME_MODEL=..., the library takes another array or address. */\n"
         "#define NAME_MODEL_BYTES " +
         std::to_string(model.size()) +
         "\n#define NAME_MODEL_ALIGNMENT 4\n#ifndef NAME_MODEL\nextern const unsigned char NAME_model[NAME_MODEL_BYTES];\n#define NAME_MODEL NAME_model\n#endif\n"
         "/* 1 where these are the bytes of the model that the library was made for, by number, alignment and checksum; else 0. */\n"
         "int NAME_check_model(const void *model, unsigned long bytes);\n";
}

inline std::string c_model_check(std::string_view model) {
  return R"c(
int NAME_check_model(const void *model, unsigned long bytes) {
  uint32_t sum = 2166136261U;
  if (bytes != NAME_MODEL_BYTES || (uintptr_t)model % NAME_MODEL_ALIGNMENT != 0) return 0;
  for (unsigned long i = 0; i < bytes; ++i) sum = (sum ^ ((const unsigned char *)model)[i]) * 16777619U;
  return sum == )c" +
         std::to_string(checksum_of(model)) + "U;\n}\n";
}

/// The file NAME_model.c.
inline std::string c_model(std::string_view model) {
  std::string s =
      "/* The bytes of the model. Leave this file out where the firmware has them already, and define NAME_MODEL. */\n"
      "#include \"NAME.h\"\n\n_Alignas(16) const unsigned char NAME_model[NAME_MODEL_BYTES] = {";
  for (std::size_t i = 0; i < model.size(); ++i)
    s += (i % 24 == 0 ? "\n" : "") + std::to_string(static_cast<unsigned char>(model[i])) + ",";
  return s + "\n};\n";
}

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
