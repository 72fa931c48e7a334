"""Parts of the page Error desk."""
