"""What can be read off the IR: ranges, uses, list sizes, operations."""
