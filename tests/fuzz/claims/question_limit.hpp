// A question without an end is ended by a signal.
#pragma once

#include <sys/time.h>

namespace claims {

/// Gives what comes next `seconds` seconds of the processor, however busy the machine is; then the process gets SIGVTALRM.
inline void limit_question(int seconds) {
  const itimerval limit{{0, 0}, {seconds, 0}};
  setitimer(ITIMER_VIRTUAL, &limit, nullptr);
}

}  // namespace claims
