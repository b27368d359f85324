# SPDX-License-Identifier: GPL-2.0-only
# NFS 4.2 with a network round trip of 1 ms; the server's device has no latency.
# shellcheck shell=bash
storage make served:size_mib=1024
modprobe nfsd && modprobe nfs && modprobe nfsv4
ip netns add server
ip link add client type veth peer name server netns server
ip address add 10.9.9.1/24 dev client
ip link set client up
ip -n server address add 10.9.9.2/24 dev server
ip -n server link set server up
ip -n server link set lo up
tc qdisc add dev client root netem delay 500us
ip netns exec server tc qdisc add dev server root netem delay 500us
mkdir -p /mnt/nfs /run/rpcbind /var/lib/nfs/rpc_pipefs
mountpoint -q /proc/fs/nfsd || mount -t nfsd nfsd /proc/fs/nfsd
echo '/mnt/served *(rw,fsid=0,no_root_squash,no_subtree_check,async)' >/etc/exports
ip netns exec server bash -c 'mount -t nfsd nfsd /proc/fs/nfsd
	echo 1 >/proc/fs/nfsd/nfsv4gracetime
	echo 1 >/proc/fs/nfsd/nfsv4leasetime
	rpc.mountd --no-nfs-version 3 --no-udp && exportfs -r && rpc.nfsd --no-nfs-version 3 --no-udp 4'
mount -t nfs -o vers=4.2 10.9.9.2:/ /mnt/nfs
