"""OpenCL C kernels: what one work-item of them does, counted. Nothing here runs them."""
