"""`python -m tritonscope`."""

import sys

from tritonscope.cli import main

sys.exit(main())
