"""Where models answer: a server by its address, a model in this process, a recording."""
