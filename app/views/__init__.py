"""One file a page; streamlit_app.py lists them."""
