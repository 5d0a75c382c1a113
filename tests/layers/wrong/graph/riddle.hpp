// What a peak makes of a graph.
#pragma once

/// Whatever the order, and what runs in it: neither of these lines is a fault.
/// Who reaches it may stop.
/// It stops here. Whose word is that?
/// It goes on. How far a peak is.
/// Which way is down? Neither is this line a fault.
/// This line is a plain sentence, as it should be, but it goes on and on, past the column at which all code and comments end, to here.
