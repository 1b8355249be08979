# Writes a generated file only when its text changes, so that what depends on it is not rebuilt in vain.

import pathlib


def write_if_changed(path, text):
    path = pathlib.Path(path)
    if path.is_file() and path.read_text() == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return True
