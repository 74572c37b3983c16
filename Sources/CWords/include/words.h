#ifndef COFFER_WORDS_H
#define COFFER_WORDS_H

enum { coffer_word_count = 7776 };

/// In the order of the alphabet, each with a zero byte at its end.
extern const char coffer_words[coffer_word_count][9];

static inline const char *coffer_word(int index) { return coffer_words[index]; }

#endif
