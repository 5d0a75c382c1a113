#include <memsched/definitions.hpp>
