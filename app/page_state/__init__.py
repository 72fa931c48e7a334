"""What each page shows, as address and file."""
