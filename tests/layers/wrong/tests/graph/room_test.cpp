// A test of the room.
// What it tests: nothing.
