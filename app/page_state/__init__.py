"""The state of each page, stored in its URL and in files."""
