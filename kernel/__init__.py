"""The conversation kernel: what both services reuse. It knows neither of them."""
