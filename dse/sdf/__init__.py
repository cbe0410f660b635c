"""Static dataflow graphs: repetition vector, deadlock check, the trace of some iterations, and back to a graph."""
