"""One row of the table: a rule, a call, its arguments and its answer."""

import dataclasses
from typing import Any, Callable


@dataclasses.dataclass(frozen=True)
class Case:
    """`arguments` gets the world; `answer` is the result, an exception type, or a test of the result and the world."""

    rule: str
    call: Callable
    arguments: Callable
    answer: Any

    def check(self, world):
        arguments = self.arguments(world)
        if isinstance(self.answer, type) and issubclass(self.answer, Exception):
            try:
                found = self.call(*arguments)
            except self.answer as error:
                assert str(error)
                return
            raise AssertionError(f"no {self.answer.__name__} but {found!r}")
        found = self.call(*arguments)
        if callable(self.answer):
            assert self.answer(found, world), f"{self.call.__name__}{arguments} -> {found!r}"
        else:
            assert found == self.answer, f"{self.call.__name__}{arguments} -> {found!r}, not {self.answer!r}"


def fails(code, outputs=1):
    """The answer of a call with outputs that fails: they keep their start value of 0."""
    return (*[0] * outputs, code)


def gives(test, outputs=1):
    """Success, and outputs that pass the test."""
    return lambda found, world: len(found) == outputs + 1 and found[-1] == 0 and bool(test(world, *found[:-1]))
