"""The parts of the page Error desk."""
