! SPDX-License-Identifier: GPL-2.0-only
!
! fortran.F90 - an MPI program in Fortran that knows what it does, with the bindings that BINDING
! says: 1 mpif.h, 2 the module mpi, 3 the module mpi_f08.
!
!	fortran DIR	leaves the account of each rank in DIR/rank.N, as exercise does

#if BINDING == 3
#define REQUEST type(MPI_Request)
#define COMM type(MPI_Comm)
#define WIN type(MPI_Win)
#define STATUS type(MPI_Status)
#define SOURCE_OF(s) s%MPI_SOURCE
#else
#define REQUEST integer
#define COMM integer
#define WIN integer
#define STATUS integer, dimension(MPI_STATUS_SIZE)
#define SOURCE_OF(s) s(MPI_SOURCE)
#endif

program fortran
#if BINDING == 3
	use mpi_f08
#elif BINDING == 2
	use mpi
#endif
	implicit none
#if BINDING == 1
	include 'mpif.h'
#endif
	integer :: rank, ranks, next, previous, ierror, i, in, out, sums, flag
	logical :: is_done
	COMM :: half, ring
	REQUEST :: requests(2), kept(2)
	STATUS :: one
	WIN :: window
	integer, asynchronous :: memory(1024)
	integer(kind=MPI_ADDRESS_KIND) :: bytes, place
	character(len=4096) :: dir

	call get_command_argument(1, dir)
	call MPI_Init(ierror)
	call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
	call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
	next = mod(rank + 1, ranks)
	previous = mod(rank + ranks - 1, ranks)
	out = rank

	do i = 1, 10
		call MPI_Irecv(in, 1, MPI_INTEGER, previous, 1, MPI_COMM_WORLD, requests(1), ierror)
		call MPI_Isend(out, 1, MPI_INTEGER, next, 1, MPI_COMM_WORLD, requests(2), ierror)
		call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
		call check(in == previous)
		call MPI_Sendrecv(out, 1, MPI_INTEGER, next, 2, in, 1, MPI_INTEGER, MPI_ANY_SOURCE, 2, &
			MPI_COMM_WORLD, one, ierror)
		call check(in == previous .and. SOURCE_OF(one) == previous)
		call MPI_Bcast(in, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
		call MPI_Allreduce(out, sums, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
		call check(sums == ranks * (ranks - 1) / 2)
		call MPI_Barrier(MPI_COMM_WORLD, ierror)
	end do

	call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half, ierror)
	call MPI_Comm_dup(half, ring, ierror)
	call MPI_Allreduce(out, sums, 1, MPI_INTEGER, MPI_SUM, ring, ierror)
	call MPI_Comm_free(ring, ierror)
	call MPI_Comm_free(half, ierror)

	call MPI_Recv_init(in, 1, MPI_INTEGER, previous, 3, MPI_COMM_WORLD, kept(1), ierror)
	call MPI_Send_init(out, 1, MPI_INTEGER, next, 3, MPI_COMM_WORLD, kept(2), ierror)
	do i = 1, 5
		call MPI_Startall(2, kept, ierror)
		is_done = .false.
		do while (.not. is_done)
			call MPI_Test(kept(1), is_done, one, ierror)
		end do
		call MPI_Wait(kept(2), MPI_STATUS_IGNORE, ierror)
		call check(in == previous)
	end do
	call MPI_Request_free(kept(1), ierror)
	call MPI_Request_free(kept(2), ierror)

	call MPI_Isend(out, 1, MPI_INTEGER, next, 4, MPI_COMM_WORLD, requests(1), ierror)
	call MPI_Probe(previous, MPI_ANY_TAG, MPI_COMM_WORLD, one, ierror)
	call MPI_Recv(in, 1, MPI_INTEGER, SOURCE_OF(one), 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
	call check(in == previous)
	call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierror)

	bytes = 4096
	place = 7
	memory = 0
	call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, window, ierror)
	call MPI_Win_fence(0, window, ierror)
	call MPI_Put(out, 1, MPI_INTEGER, next, place, 1, MPI_INTEGER, window, ierror)
	call MPI_Win_fence(0, window, ierror)
	call check(memory(8) == previous)
	call MPI_Win_free(window, ierror)

	open(unit=10, file=trim(dir) // '/rank.' // achar(iachar('0') + rank))
	call did('mpi_comm -', 5)
	call did('mpi_coll init', 1)
	call did('mpi_recv irecv', 10)
	call did('mpi_send isend', 11)
	call did('mpi_done wait', 26)
	call did('mpi_probe probe', 1)
	call did('mpi_recv recv', 1)
	call did('mpi_coll win_create', 1)
	call did('mpi_coll win_fence', 2)
	call did('mpi_coll win_free', 1)
	call did('mpi_win put', 1)
	call did('mpi_done test', 5)
	call did('mpi_send sendrecv', 10)
	call did('mpi_recv sendrecv', 10)
	call did('mpi_coll bcast', 10)
	call did('mpi_coll allreduce', 11)
	call did('mpi_coll barrier', 10)
	call did('mpi_coll comm_split', 1)
	call did('mpi_coll comm_dup', 1)
	call did('mpi_coll comm_free', 2)
	call did('mpi_recv recv_init', 5)
	call did('mpi_send send_init', 5)
	call did('mpi_coll finalize', 1)
	close(10)
	call MPI_Finalize(ierror)

contains
	subroutine did(what, times)
		character(len=*), intent(in) :: what
		integer, intent(in) :: times

		write (10, '(I0, A, A, A, I0)') rank, ' ', what, ' ', times
	end subroutine

	subroutine check(is_so)
		logical, intent(in) :: is_so

		if (is_so) return
		print *, 'fortran: rank ', rank, ': not as expected'
		call MPI_Abort(MPI_COMM_WORLD, 1, flag)
	end subroutine
end program
