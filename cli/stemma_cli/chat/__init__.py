"""`stemma chat`: a conversation in the terminal."""
