"""Rules and models on people that took no part in making them."""
