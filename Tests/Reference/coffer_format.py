"""The vault file format, written from Vault/FORMAT.md alone: reader and writer in one import."""
from contents import *        # noqa: F401,F403
from format import *          # noqa: F401,F403
from making import create_file, create_schema, make_slot, seal_row     # noqa: F401
from reader import Credential, Vault, connect       # noqa: F401
from slots import *           # noqa: F401,F403
from snapshot import Group, Item, Snapshot      # noqa: F401
from writer import Change, WritableVault    # noqa: F401
