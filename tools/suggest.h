/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * suggest.h - the word that was probably meant by a mistyped one.
 */
#ifndef IOTAPE_SUGGEST_H
#define IOTAPE_SUGGEST_H

/**
 * struct suggestion - a search for a similar word
 * @word: as typed
 * @nearest: the most similar candidate so far; NULL if none is similar
 * @distance: of @nearest
 */
struct suggestion {
	const char *word;
	const char *nearest;
	unsigned int distance;
};

void suggest_open(struct suggestion *suggestion, const char *word);
void suggest_candidate(struct suggestion *suggestion, const char *candidate);

#endif
