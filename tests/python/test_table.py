"""Every case of the table: the same rules as for the C functions, in pyACL's shape."""

import inspect
import types
import warnings

import acl
import pytest
import table_compute
import table_copies
import table_devices
import table_memory
import table_streams

TABLE = [case for part in (table_copies, table_memory, table_streams, table_devices, table_compute) for case in part.CASES]
FUNCTIONS = sorted(
    (module.__name__, name)
    for module in (acl, acl.rt, acl.util) for name, function in vars(module).items()
    if isinstance(function, types.BuiltinFunctionType) and not name.startswith("_"))


def number_of(case):
    return f"{TABLE.index(case)}-{case.call.__name__}"


def test_size_of_the_table():
    assert len(TABLE) >= 200


@pytest.mark.parametrize("case", TABLE, ids=number_of)
def test_case(case, on_device):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        case.check(on_device)


def test_every_function_is_in_the_table():
    """Or in a test of its own."""
    elsewhere = {"finalize", "start_thread", "stop_thread", "reset_device_force", "finalize_reference",
                 "get_stream_id_from_exception_info", "get_thread_id_from_exception_info",
                 "get_device_id_from_exception_info", "get_data_buffer_addr", "get_data_buffer_size",
                 "get_data_buffer_size_v2", "update_data_buffer", "ctx_get_sys_param_opt"}
    called = {case.call.__name__ for case in TABLE}
    assert {name for _, name in FUNCTIONS} - called - elsewhere == set()


def function_of(module, name):
    return getattr({"acl": acl, "acl.rt": acl.rt, "acl.util": acl.util}[module], name)


@pytest.mark.parametrize("module, name", FUNCTIONS)
def test_wrong_arguments(module, name):
    """One more argument than there are, and an object of no use for each: TypeError with the function's name first."""
    function = function_of(module, name)
    parameters = inspect.signature(function).parameters
    assert all(parameter.kind is inspect.Parameter.POSITIONAL_ONLY for parameter in parameters.values())
    with pytest.raises(TypeError, match=f"^{name} args parse failed"):
        function(*[0] * (len(parameters) + 1))
    with pytest.raises(TypeError):
        function(**{parameter: 0 for parameter in [*parameters, "more"]})
    if parameters:
        with pytest.raises((TypeError, ValueError), match=f"^{name}"):
            function(*[object()] * len(parameters))
