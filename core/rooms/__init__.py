"""Rooms for a class: everyone answers on a phone, and the lecturer's page shows the answers."""
