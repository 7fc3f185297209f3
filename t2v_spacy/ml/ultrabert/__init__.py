"""UltraBERT, an encoder of long texts, for versions of transformers that lack it."""

from .registration import register_ultrabert

__all__ = ["register_ultrabert"]
