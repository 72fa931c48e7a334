"""The page: draws what core explains. Imports core and nothing of trainers."""
