"""What a shell completes after `aqmlab` (`aqmlab --install-completion`): names of the catalogue."""

from __future__ import annotations


def kinds(incomplete: str) -> list[str]:
    """Kinds that `list` takes."""
    from . import reference

    return _begun(incomplete, list(reference.KINDS))


def names(incomplete: str) -> list[str]:
    """Names that `describe` takes."""
    from . import reference

    return _begun(incomplete, [name for kind in reference.KINDS for name in reference.names(kind)])


def studies(incomplete: str) -> list[str]:
    """Studies."""
    from aqmlab.experiment.folders import shipped

    return _begun(incomplete, shipped())


def examples(incomplete: str) -> list[str]:
    """Examples."""
    from aqmlab.experiment import examples

    return _begun(incomplete, list(examples.SHOWN))


def examples_to_run(incomplete: str) -> list[str]:
    """Examples as `run` takes them; files are completed by the shell."""
    return _begun(incomplete, [f"example:{name}" for name in examples("")])


def study_words(incomplete: str) -> list[str]:
    """Studies, and the words that stand for all of them."""
    return [*studies(incomplete), *_begun(incomplete, ["all", "list"])]


def _begun(incomplete: str, known: list[str]) -> list[str]:
    return [name for name in dict.fromkeys(known) if name.startswith(incomplete)]
