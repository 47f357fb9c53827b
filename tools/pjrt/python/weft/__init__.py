"""What comes with Weft's wheel for Keras models beside the platform of JAX: python -m weft.trace."""
