// The functions of the adapter, compiled once.
#include <memsched/adapters/mlir/definitions.hpp>
