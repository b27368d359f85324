// SPDX-License-Identifier: GPL-2.0-only
/*
 * controlled.c - the controller of delays on several nodes, without iotape discover.
 *
 *	controlled FILE NODE NODES
 *
 * Prints `ready`, and at the end of its input the numbers of nodes, lost connections and released delays.
 */
#include "record/record.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	struct controller_result result;
	struct controller *controller;

	if (argc != 4 || controller_start(&controller, argv[1], argv[2], (unsigned int)atoi(argv[3])))
		return 1;
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	while (getchar() != EOF)
		;
	controller_stop(controller, &result);
	printf("%u nodes, %u lost, %u released\n", result.nodes, result.lost, result.released);
	return 0;
}
