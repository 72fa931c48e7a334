"""Bundles the scripts into one module: components v2 take a script as text, which cannot import files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

from core.json_types import JsonMapping

CONSTANTS = "constants.js"
"""The module whose exports come from Python (constants.d.ts tells their types)."""
_IMPORT = re.compile(r'^import \{([^}]*)\} from "([^"]+)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:(?:async )?function\*?|class|const) (\w+))", re.MULTILINE)


def bundle(entry: Path, scripts: Iterable[Path], constants: JsonMapping) -> str:
    """The modules ``scripts`` and their imports, each after the modules it imports and wrapped in a function, so that
    names are visible only where imported; ``entry`` comes last and keeps its exports.

    Raises ValueError for circular imports, or an import of a name that the module does not export.
    """
    names = {CONSTANTS: frozenset(constants)}
    parts = [f'const modules = {{ "{CONSTANTS}": {json.dumps(constants)} }};']
    in_progress: set[Path] = set()

    def imports(script: Path, text: str) -> str:
        def local(match: re.Match[str]) -> str:
            path = (script.parent / match[2]).resolve()
            key = CONSTANTS if path.name == CONSTANTS else add(path)
            wanted = [name.strip() for name in match[1].split(",") if name.strip()]
            if missing := sorted({*wanted} - names[key]):
                raise ValueError(f"{script.name} imports {', '.join(missing)}, which {path.name} does not export")
            return f"const {{ {', '.join(wanted)} }} = modules[{json.dumps(key)}];"

        return _IMPORT.sub(local, text)

    def add(script: Path) -> str:
        key = f"{script.parent.name}/{script.name}"
        if key in names:
            return key
        if script in in_progress:
            raise ValueError(f"{script.name} imports itself through the modules that it imports")
        in_progress.add(script)
        text = imports(script, script.read_text(encoding="utf-8"))
        exported = _EXPORT.findall(text)
        body = _EXPORT.sub("", text)
        parts.append(f"modules[{json.dumps(key)}] = (() => {{\n{body}\nreturn {{ {', '.join(exported)} }};\n}})();")
        names[key] = frozenset(exported)
        return key

    for script in scripts:
        add(script.resolve())
    return "\n".join([*parts, imports(entry.resolve(), entry.read_text(encoding="utf-8"))])
