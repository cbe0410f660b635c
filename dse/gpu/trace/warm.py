"""Compiles what all traces of kernels share, so that the first prediction need not wait for it: run as a module."""

from dse.frontend.c.lower import kernels_of
from dse.gpu.trace.features import kernel_features
from dse.model.kernel import TraceMachine
from dse.passes.analyses.parallel_loops import parallelise

_KERNEL = """
void warm(int n, int a[64], int b[64], float c[64][64]) {
  for (int i = 0; i < 64; i++) {
    int at = 0;
    for (int k = 0; k < b[i]; k++)
      if (b[k] > 3) at = at + b[(i * k) % 64];
    while (at > 2) at = at / 2;
    for (int k = 0; k < i; k++) c[i][k] = c[k][i] * 2.0f;
    a[i] = at;
    for (int k = 0; k < 64; k++) c[i][k] = c[i][k] * 2.0f;
  }
}
"""
"""Every kind of access and of control: uniform and scattered, loops that data or the thread end, a branch, a while."""


def warm() -> None:
    """Trace a small kernel, as Python and compiled: what is the same for all kernels is compiled, or found to be."""
    for kernel in map(parallelise, kernels_of("warm.c", _KERNEL, {})):
        for compiled in (False, True):
            kernel_features(kernel, kernel, TraceMachine(), compiled=compiled)


if __name__ == "__main__":
    warm()
