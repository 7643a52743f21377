"""Sentences of findings, the same for terminal, page, Markdown and JSON.

Every kind of finding has one function of the same name in `unweave.words`. Its arguments are the finding's quantities
and, if the finding has any, its factors and codes. There is a module for each topic, and `phrases` formats the numbers
and names in all of them.
"""

from unweave.words.lookup import WORDS, sentence, sentence_of_several

__all__ = ["WORDS", "sentence", "sentence_of_several"]
