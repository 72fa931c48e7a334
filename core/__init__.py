"""Models of sentence pairs, evidence of what they did, data and scores; imports neither app nor trainers."""
