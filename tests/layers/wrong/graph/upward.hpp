#include <memsched/schedulers/rpo.hpp>
