"""What to do about a kernel, and which accelerator to take."""
