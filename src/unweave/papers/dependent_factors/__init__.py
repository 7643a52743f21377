"""004: do minimality and sufficiency say how useful an encoder is, also when factors depend on each other?"""
