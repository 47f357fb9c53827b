"""The figures of figures.py as PyTorch computes them."""

import torch

import figures


def torch_call(figure, device, size):
    """The function of PyTorch that does a figure's work on arrays of its own; None if there is none."""
    *sizes, kind = getattr(figure, size)
    dtype = {"f32": torch.float32, "bf16": torch.bfloat16}[kind]
    torch.backends.cuda.matmul.allow_tf32 = False  # products of f32 are not rounded to TF32, as in Weft

    def draw(*shape):
        return torch.rand(*shape, device=device, dtype=torch.float32).to(dtype)
    if figure.make is figures.gemm:
        m, n, k = sizes
        a, b = draw(m, k), draw(k, n)
        return lambda: a @ b
    if figure.make is figures.softmax:
        x = draw(*sizes)
        return lambda: torch.softmax(x, 1)
    if figure.make is figures.softmax_gradient:
        y, dy = torch.softmax(draw(*sizes), 1), draw(*sizes)
        return lambda: torch.ops.aten._softmax_backward_data(dy, y, 1, dtype)
    if figure.make in (figures.layer_norm, figures.layer_norm_gradient):
        x, scale, offset = draw(*sizes).requires_grad_(), draw(sizes[1]).requires_grad_(), draw(sizes[1]).requires_grad_()
        y = torch.nn.functional.layer_norm(x, sizes[1:], scale, offset, figures.EPSILON)
        if figure.make is figures.layer_norm_gradient:
            dy = draw(*sizes)
            return lambda: torch.autograd.grad(y, (x, scale, offset), dy, retain_graph=True)
        return torch.no_grad()(lambda: torch.nn.functional.layer_norm(x, sizes[1:], scale, offset, figures.EPSILON))
    if figure.make is figures.moments:
        x = draw(*sizes)
        call = torch.compile(lambda x: torch.var_mean(x, 0, correction=0))
        return lambda: call(x)
    if figure.make is figures.column_sums:
        x = draw(*sizes)
        return lambda: x.sum(0)
    if figure.make is figures.bias_gelu:
        x, bias = draw(*sizes), draw(sizes[1])
        call = torch.compile(lambda x, bias: torch.nn.functional.gelu(x + bias, approximate="tanh"))
        return lambda: call(x, bias)
    if figure.make is figures.residual_mul:
        x, y, z = draw(*sizes), draw(*sizes), draw(*sizes)
        call = torch.compile(lambda x, y, z: (x + y) * z)
        return lambda: call(x, y, z)
    if figure.make is figures.adam:
        weight = torch.nn.Parameter(draw(*sizes))
        weight.grad = draw(*sizes)
        return torch.optim.Adam([weight], fused=True).step
    return None
