"""What the loops of a kernel would take on an FPGA: data flow, list schedule, tiles, lanes."""
