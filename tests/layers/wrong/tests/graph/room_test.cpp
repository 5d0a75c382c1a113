// A test of the room.
