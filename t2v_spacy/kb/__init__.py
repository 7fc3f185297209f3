"""Medical knowledge: concepts, their names and their hierarchy."""

from __future__ import annotations

from .builtin import load_builtin
from .knowledge_base import Concept, KnowledgeBase

__all__ = ["Concept", "KnowledgeBase", "load_builtin"]
