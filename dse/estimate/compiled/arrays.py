"""What kernels do with whole arrays, where numba's own way takes seconds to compile."""

from dse.estimate.compiled.inner import inner


@inner
def copy(target, source):
    """Copy an array to where another begins. For ``target[:] = source`` numba compiles the text of an error too."""
    for i in range(len(source)):
        target[i] = source[i]
