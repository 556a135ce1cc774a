"""What must come true in the end: behaviors that never come to rest, and which of these are fair."""
