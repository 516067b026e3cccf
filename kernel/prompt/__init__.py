"""From a path and a configuration to what a model is sent. Pure."""
