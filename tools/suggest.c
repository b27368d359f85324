// SPDX-License-Identifier: GPL-2.0-only
/*
 * suggest.c - the word that was probably meant by a mistyped one.
 */
#include "suggest.h"

#include <string.h>

#define WORD_MAX 40

static unsigned int smaller(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/*
 * Insertions, deletions, substitutions and swaps of neighbours that turn one word into the other: the optimal
 * string alignment distance, a restricted form of F. Damerau's, "A technique for computer detection and
 * correction of spelling errors", 1964.
 */
static unsigned int distance(const char *a, const char *b)
{
	size_t rows = strlen(a), columns = strlen(b), i, j;
	unsigned int d[WORD_MAX + 1][WORD_MAX + 1];

	if (rows > WORD_MAX || columns > WORD_MAX)
		return ~0u;
	for (i = 0; i <= rows; i++)
		d[i][0] = (unsigned int)i;
	for (j = 0; j <= columns; j++)
		d[0][j] = (unsigned int)j;
	for (i = 1; i <= rows; i++) {
		for (j = 1; j <= columns; j++) {
			d[i][j] = smaller(smaller(d[i - 1][j], d[i][j - 1]) + 1,
					  d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				d[i][j] = smaller(d[i][j], d[i - 2][j - 2] + 1);
		}
	}
	return d[rows][columns];
}

/**
 * suggest_open() - start a search
 */
void suggest_open(struct suggestion *suggestion, const char *word)
{
	*suggestion = (struct suggestion){ .word = word };
}

/**
 * suggest_candidate() - consider a word
 *
 * A candidate is similar if at most a third of its letters differ.
 */
void suggest_candidate(struct suggestion *suggestion, const char *candidate)
{
	unsigned int d = distance(suggestion->word, candidate);

	if (d > (strlen(candidate) + 1) / 3 || (suggestion->nearest && d >= suggestion->distance))
		return;
	suggestion->nearest = candidate;
	suggestion->distance = d;
}
