"""Custom Keras layers, which Weft's own reader does not know, for traced.py."""

import keras


@keras.saving.register_keras_serializable("weft_test")
class Gate(keras.layers.Layer):
    """x * sigmoid(x w), with a loss of its own on w."""

    def build(self, shape):
        self.w = self.add_weight(name="w", shape=(shape[-1],), initializer="random_normal")

    def call(self, x):
        self.add_loss(0.01 * keras.ops.sum(self.w ** 2))
        return x * keras.ops.sigmoid(x * self.w)


@keras.saving.register_keras_serializable("weft_test")
class Whiten(keras.layers.Layer):
    """x with the covariance of the batch taken out, by way of LAPACK on JAX's CPU."""

    def call(self, x):
        covariance = keras.ops.matmul(keras.ops.transpose(x), x) + keras.ops.eye(x.shape[-1])
        q, r = keras.ops.qr(keras.ops.linalg.cholesky(covariance))
        return keras.ops.matmul(x, keras.ops.linalg.inv(keras.ops.matmul(q, r)))
