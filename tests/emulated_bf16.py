"""The error that mixed precision makes in every model, as JSON: for a separate process, since oneDNN asks only once
what the processor has."""

import json

from core.openmp import wait_asleep

if __name__ == "__main__":
    wait_asleep()  # before torch is imported, as entry points do

    from core.processor import native_bf16
    from tests.models import bfloat16_error, every_settings

    errors = [[name, str(settings), bfloat16_error(name, settings)] for name, settings in every_settings()]
    print(json.dumps({"native": native_bf16(), "errors": errors}))
