"""Layer 3: GPU cost models: kernel traces, devices and the models behind one seam."""
