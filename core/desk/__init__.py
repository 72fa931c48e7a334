"""The error desk: what models said of a data set, where they err, and what people make of it."""
