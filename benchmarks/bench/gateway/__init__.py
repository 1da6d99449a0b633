"""Parts of the gateway benchmark."""
