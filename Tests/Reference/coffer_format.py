"""The vault file format, written from Vault/FORMAT.md alone: reader and writer in one import."""
from contents import *        # noqa: F401,F403
from format import *          # noqa: F401,F403
from reader import Credential, Group, Item, Snapshot, Vault, connect, damage       # noqa: F401
from writer import Change, WritableVault, create_file, create_schema, make_slot, seal_row   # noqa: F401
