"""The Streamlit app, which displays the results of core. Imports core, never trainers."""
