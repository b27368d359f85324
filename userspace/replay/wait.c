// SPDX-License-Identifier: GPL-2.0-only
/*
 * wait.c - threads that wait for each other, by futex: see struct park.
 */
#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "player.h"

#define NS_PER_S 1000000000ull

/* The clock that everything here is measured by. */
u64 clock_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * NS_PER_S + (u64)now.tv_nsec;
}

/**
 * futex_sleep() - sleep until a futex is woken
 * @futex: the futex
 * @value: do not sleep if it has another value
 * @until_ns: monotonic clock when to wake up in any case, 0 for never
 *
 * Return: 0, -EAGAIN, -ETIMEDOUT or -EINTR.
 */
int futex_sleep(u32 *futex, u32 value, u64 until_ns)
{
	const struct timespec until = {
		.tv_sec = (time_t)(until_ns / NS_PER_S),
		.tv_nsec = (long)(until_ns % NS_PER_S),
	};

	return syscall(SYS_futex, futex, FUTEX_WAIT_BITSET_PRIVATE, value, until_ns ? &until : NULL,
		       NULL, FUTEX_BITSET_MATCH_ANY) ? -errno : 0;
}

/* All that sleep there. */
void futex_wake(u32 *futex)
{
	syscall(SYS_futex, futex, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

void park_init(struct park *park)
{
	park->turns = 0;
	park->wanted = PARK_NOBODY;
}

static struct park *park_of(struct player *player, const struct iot_program_wait *wait)
{
	u32 task = le32_to_cpu(wait->task);

	if (task == IOT_WAIT_HUB)
		return &player->hubs[le32_to_cpu(wait->index)];
	return &player->tasks[task].moved;
}

/* The value that is enough: operations ended, or for a hub, that it is open. */
static u32 value_of(const struct iot_program_wait *wait)
{
	return le32_to_cpu(wait->task) == IOT_WAIT_HUB ? 1 : le32_to_cpu(wait->index) + 1;
}

static void want(struct park *park, u32 value)
{
	u32 wanted = __atomic_load_n(&park->wanted, __ATOMIC_RELAXED);

	while (wanted > value &&
	       !__atomic_compare_exchange_n(&park->wanted, &wanted, value, true, __ATOMIC_SEQ_CST,
					    __ATOMIC_RELAXED))
		;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/**
 * park_wait() - sleep until a wait holds
 * @player: the replay
 * @wait: of its program
 *
 * Return: 0; -ECANCELED.
 */
int park_wait(struct player *player, const struct iot_program_wait *wait)
{
	struct park *park = park_of(player, wait);
	u32 turns;

	for (;;) {
		turns = __atomic_load_n(&park->turns, __ATOMIC_ACQUIRE);
		want(park, value_of(wait));
		if (iot_order_holds(&player->order, wait))
			return 0;
		if (player_is_cancelled(player))
			return -ECANCELED;
		futex_sleep(&park->turns, turns, 0);
	}
}

/**
 * park_wake_all() - let all that sleep look again
 */
void park_wake_all(struct park *park)
{
	__atomic_store_n(&park->wanted, PARK_NOBODY, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&park->turns, 1, __ATOMIC_SEQ_CST);
	futex_wake(&park->turns);
}

/**
 * park_wake() - something has come to a value, which was stored before
 * @park: where those sleep who wait for it
 * @value: how far it is
 */
void park_wake(struct park *park, u32 value)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_load_n(&park->wanted, __ATOMIC_RELAXED) <= value)
		park_wake_all(park);
}
