"""Parts of the page Explore."""
