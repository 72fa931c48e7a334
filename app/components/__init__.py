"""Browser parts: Streamlit components v2, plain JavaScript, no build step."""
