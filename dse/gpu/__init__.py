"""GPU cost models: kernel traces, devices and the models behind one seam."""
