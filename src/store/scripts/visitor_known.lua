-- Whether a visitor is known. KEYS 1 the visitor. Gives 1 or 0.
return stands(KEYS[1]) and 1 or 0
