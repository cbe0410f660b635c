"""Methods that go from mapping to mapping."""
