"""Parts of the page Models, and what other pages show of a card."""
