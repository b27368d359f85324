/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * controller.h - the protocol between the recorders of several nodes and their controller. Private to userspace/record.
 *
 * A delay of a thread lasts until all threads of the job are blocked, on all nodes. The controller is a thread of iotape discover;
 * on each node, the holder of the session (holder.c) connects to it by TCP, and looks at the threads of its node on demand
 * (watcher.c). A file in the directory of the traces, which only its owner can read, states where the controller is.
 *
 *	recorder			controller
 *				<-	struct node_challenge
 *	struct node_hello	->
 *				<-	welcome
 *	begin			->			a delay has begun on this node
 *				<-	look		to all nodes: look at the threads, from now on
 *	blocked			->			when it changes: since when all threads are blocked
 *				<-	confirm		to all, if all are blocked
 *	confirmed		->			what holds now
 *				<-	release		to the node with the delay, if nothing has changed on any node
 *	end			->
 *				<-	rest		to all nodes
 *	bye			->			the commands have ended
 *
 * All nodes were blocked at the same time if none has changed between its last `blocked` and its `confirmed`: the first was
 * received before `confirm` was sent. If a connection ends without `bye`, all delays end, on all nodes.
 *
 * Both sides prove that they have read the file. Messages are neither encrypted nor proven: all that another one could achieve by
 * them is that delays are too short or last until their limits.
 */
#ifndef IOTAPE_RECORD_CONTROLLER_H
#define IOTAPE_RECORD_CONTROLLER_H

#include "core/port.h"
#include "core/siphash.h"
#include "record.h"

#define CONTROLLER_ADDRESSES_MAX  32
#define CONTROLLER_NODE_BYTES	  65
#define CONTROLLER_PROOF_CLIENT	  1
#define CONTROLLER_PROOF_SERVER	  2

enum node_message_kind {
	NODE_WELCOME = 1,
	NODE_BEGIN,
	NODE_LOOK,
	NODE_BLOCKED,
	NODE_CONFIRM,
	NODE_CONFIRMED,
	NODE_RELEASE,
	NODE_END,
	NODE_REST,
	NODE_ABANDON, /* from the controller: end all delays */
	NODE_BYE,
};

/**
 * struct node_message - a message in either direction, little-endian
 * @kind: an enum node_message_kind
 * @round: of `confirm` and `confirmed`
 * @number: of the delay, as of the kernel of the node with the delay
 * @value: of `blocked` and `confirmed`: since when all are blocked, by the clock of the node, 0 if not all are; of `welcome`: the proof
 */
struct node_message {
	u32 kind;
	u32 round;
	u64 number;
	u64 value;
};

struct node_challenge {
	u8 nonce[16];
};

struct node_hello {
	u8 nonce[16];
	u64 proof;
	char name[CONTROLLER_NODE_BYTES + 7];
};

/**
 * struct controller_file - where the controller is
 * @key: by which both sides prove that they have read the file
 * @port: of TCP
 * @node: name of the node whose threads are delayed; "*": of all
 * @addresses: of the controller, numeric
 */
struct controller_file {
	struct iot_siphash_key key;
	u16 port;
	char node[CONTROLLER_NODE_BYTES];
	char addresses[CONTROLLER_ADDRESSES_MAX][64];
	unsigned int address_count;
};

/* controller_file.c */
int controller_file_write(const char *path, const struct controller_file *file);
int controller_file_read(const char *path, struct controller_file *file, char *why, size_t room);
bool controller_file_chooses(const struct controller_file *file, const char *node);
u64 controller_proof(const struct controller_file *file, u8 side, const struct node_challenge *challenge, const struct node_hello *hello);

/* watcher.c */
struct watcher;

int watcher_start(struct watcher **watcher, const struct controller_file *file, const char *node, int session_fd, char *why, size_t room);
void watcher_stop(struct watcher *watcher);

#endif
