"""Checks of functions with a partition of their own (jax.experimental.custom_partitioning).

Weft partitions the function itself, so that a wrong rule or partition would be seen on other platforms only.
"""

from jax._src import api, core
from jax._src import custom_partitioning as theirs
from jax._src.lib import xla_client


def check_partition(ctx, *operands, **parameters):
    """Raises JAX's errors: those of its lowering, which reads the rule, and of its partitioner for replicated operands, which any
    partition may be given. JAX neither reads nor calls anything on one device and in per-device code."""
    results = theirs._custom_partitioning_lowering_rule(ctx, *operands, **parameters)
    op = getattr(results[0], "owner", None) if len(results) else None
    if getattr(op, "name", "") != "stablehlo.custom_call" or op.attributes["call_target_name"].value != theirs._CUSTOM_PARTITIONING_CALL_NAME:
        return
    info = theirs._sharding_callbacks[op.attributes["backend_config"].value.encode()]
    op.erase()
    _check_shapes(info, ctx.avals_in, ctx.avals_out)


def _shapes(tree, avals, sharding_of):
    return tree.unflatten([api.ShapeDtypeStruct(aval.shape, aval.dtype, sharding=sharding_of(aval)) for aval in avals])


def _blocks(tree, shardings, avals):
    """The shapes of one device's blocks, in which JAX's checks of shardings are made."""
    blocks = []
    for sharding, aval in zip(tree.flatten_up_to(shardings), avals):
        theirs._to_hlo_sharding(sharding, aval.ndim)
        blocks.append(core.ShapedArray(sharding.shard_shape(aval.shape), aval.dtype))
    return blocks


def _check_shapes(info, operands, results):
    def replicated(aval):
        return info.to_mesh_pspec_sharding(xla_client.HloSharding.replicate(), aval.ndim)

    mesh, function, result_shardings, operand_shardings = info.partition(
        *info.static_args, info.mesh, _shapes(info.in_tree, operands, replicated), _shapes(info.out_tree, results, replicated))
    given = _blocks(info.in_tree, operand_shardings, operands)
    expected = _blocks(info.out_tree, result_shardings, results)
    found = api.make_jaxpr(function, axis_env=list(mesh.shape.items()))(*info.in_tree.unflatten(given)).out_avals
    if [(aval.shape, aval.dtype) for aval in found] != [(aval.shape, aval.dtype) for aval in expected]:
        raise ValueError(f"Weft: Mismatch in result shapes. {found} vs {expected}: the partition of a function with custom_partitioning "
                         "does not give the blocks of its result_shardings; fix either")
