"""Models of sentence pairs and the evidence of what they did; knows neither the app nor any data set's files."""
