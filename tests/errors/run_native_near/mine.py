def gain(x):
    return x + 1
