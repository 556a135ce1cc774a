"""Recording through real brokers on loopback; `make brokers` starts them."""
