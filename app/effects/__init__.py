"""What words and links do to a verdict, computed while a person reads it."""
