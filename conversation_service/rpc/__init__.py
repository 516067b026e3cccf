"""One servicer a service. A method is check, call, convert."""
