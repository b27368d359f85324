// SPDX-License-Identifier: GPL-2.0-only
/*
 * top_screen.c - the text of iotape top on a terminal, and the keys.
 */
#include "top.h"

#ifdef IOTAPE_HAS_NCURSES

#include <curses.h>
#include <string.h>

#define OTHER_LINES 12 /* heads, and lines between lists */
#define LISTS	    3

/**
 * top_screen_is_there() - was the program built with ncurses?
 */
bool top_screen_is_there(void)
{
	return true;
}

/**
 * top_screen_open() - take over the terminal
 *
 * Return: 0; -ENOTTY if it cannot show a screen.
 */
int top_screen_open(void)
{
	if (!newterm(NULL, stdout, stdin))
		return -ENOTTY;
	cbreak();
	noecho();
	curs_set(0);
	keypad(stdscr, TRUE);
	return 0;
}

/**
 * top_screen_close() - give the terminal back
 */
void top_screen_close(void)
{
	endwin();
}

/**
 * top_screen_rows() - rows of each list that the screen has room for
 */
u32 top_screen_rows(void)
{
	return LINES > OTHER_LINES + LISTS ? (u32)(LINES - OTHER_LINES) / LISTS : 1;
}

/**
 * top_screen_show() - show a text, as far as it fits
 * @text: lines
 * @view: for the last line
 */
void top_screen_show(const char *text, const struct top_view *view)
{
	const char *end;
	int y;

	erase();
	for (y = 0; *text && y < LINES - 1; y++) {
		end = strchrnul(text, '\n');
		mvaddnstr(y, 0, text, (int)(end - text) < COLS ? (int)(end - text) : COLS);
		text = *end ? end + 1 : end;
	}
	attron(A_REVERSE);
	mvprintw(LINES - 1, 0, "%.*s", COLS, "q quit  t time  o ops  b bytes  e errors  n name");
	attroff(A_REVERSE);
	printw("  sorted by %s", top_sort_words[view->sort]);
	refresh();
}

/**
 * top_screen_wait() - wait for a key
 * @view: changed by keys
 * @timeout_ms: how long
 *
 * Return: false if the user is done.
 */
bool top_screen_wait(struct top_view *view, int timeout_ms)
{
	timeout(timeout_ms);
	switch (getch()) {
	case 'q':
		return false;
	case 't':
		view->sort = TOP_SORT_TIME;
		break;
	case 'o':
		view->sort = TOP_SORT_OPERATIONS;
		break;
	case 'b':
		view->sort = TOP_SORT_BYTES;
		break;
	case 'e':
		view->sort = TOP_SORT_ERRORS;
		break;
	case 'n':
		view->sort = TOP_SORT_NAME;
		break;
	}
	return true;
}

#else

#include <errno.h>

bool top_screen_is_there(void)
{
	return false;
}

int top_screen_open(void)
{
	return -ENOTTY;
}

void top_screen_close(void)
{
}

u32 top_screen_rows(void)
{
	return 0;
}

void top_screen_show(const char *text, const struct top_view *view)
{
	(void)text;
	(void)view;
}

bool top_screen_wait(struct top_view *view, int timeout_ms)
{
	(void)view;
	(void)timeout_ms;
	return false;
}

#endif
