"""The error desk: a data set's predictions, the models' errors, and people's annotations of them."""
