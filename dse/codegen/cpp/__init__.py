"""C++: actors and the network of a native program."""
