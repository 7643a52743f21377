"""Records in words: the one room in which findings become sentences, for terminal, page, Markdown and JSON alike.

Every kind of finding has one function of the same name here, whose arguments are the finding's quantities and, where it
is about any, its factors and codes. Modules are topics; what they share is in `phrases`.
"""

from unweave.words.lookup import WORDS, sentence, sentence_of_several

__all__ = ["WORDS", "sentence", "sentence_of_several"]
