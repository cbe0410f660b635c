"""Words by eight: where many are looked through for the least, in any kernel."""

from dse.estimate.compiled.inner import inlined


@inlined
def least_of_eight(m, first):
    """Return the least of eight words."""
    left = min(min(m[first], m[first + 1]), min(m[first + 2], m[first + 3]))
    return min(left, min(min(m[first + 4], m[first + 5]), min(m[first + 6], m[first + 7])))
