"""Parts of the page Models, and card details for other pages."""
