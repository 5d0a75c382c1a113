// The memory models of one firing (Fradet et al., section 2.1), as arithmetic that knows no graph.
#pragma once

#include <memsched/base/bytes.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// When an operator's last-read inputs are freed: after its outputs exist, or before.
enum class firing : unsigned char {
  pbc,  ///< produced before consumed
  cbp,  ///< consumed before produced
};

/// The firing rule of operators that state none themselves, and whether any work in place.
struct memory_model {
  firing default_firing = firing::pbc;
  bool in_place = true;  ///< whether outputs may take the storage of overwritten inputs
};

namespace detail {

/// The effect of one firing on memory, in bytes.
struct firing_effect {
  bytes produced = 0;     ///< all outputs
  bytes kept = 0;         ///< outputs that an operator reads later or that are graph outputs
  bytes freed = 0;        ///< inputs that no operator needs afterwards
  bytes workspace = 0;    ///< held while the operator runs
  bytes overwritten = 0;  ///< output bytes that take the place of a freed input (pbc only)
};

struct footprint {
  bytes during = 0;
  bytes after = 0;
};

/// The footprint of a firing that starts with `live` bytes. `freed` must be part of `live`.
constexpr footprint fire(firing rule, bytes live, const firing_effect& e) {
  const bytes held = live + e.produced + e.workspace;
  return {.during = rule == firing::cbp ? held - e.freed : held - e.overwritten, .after = live - e.freed + e.kept};
}

}  // namespace detail

}  // namespace MEMSCHED_ABI
}  // namespace memsched
