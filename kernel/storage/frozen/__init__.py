"""Steps of migrations that both services take. Never edited, like the migrations that call them."""
