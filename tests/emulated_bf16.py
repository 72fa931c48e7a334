"""What mixed precision does to every model, as JSON: for a process of its own, since oneDNN asks only once what the
processor has."""

import json

from core.processor import native_bf16  # first: core sets how threads wait before torch is loaded
from tests.models import bfloat16_error, every_settings

if __name__ == "__main__":
    errors = [[name, str(settings), bfloat16_error(name, settings)] for name, settings in every_settings()]
    print(json.dumps({"native": native_bf16(), "errors": errors}))
