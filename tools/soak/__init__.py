"""Crash tests: the service and PostgreSQL are killed under load, and nothing acknowledged may be lost."""
