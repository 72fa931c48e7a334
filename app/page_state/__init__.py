"""The state of each page, stored in its address and in files."""
