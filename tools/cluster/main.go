// Command cluster brings up a Kubernetes cluster of one or two real nodes on this
// host for tests, and takes it down again without a trace: etcd and containerd from
// Debian, the programs of Kubernetes built from this module.
//
// Everything is in one directory. The cluster listens on loopback alone, with two nodes also on a veth
// pair between them, and uses TLS with its own certificate authority. What it changes beside that
// (sysctls, rules of kube-proxy and of published ports, directories that containerd and the kubelet
// need) is noted before and restored by down.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

const usage = `usage: cluster build|up [-cpu-manager static] [-nodes 2]|down|env
  build  the programs of Kubernetes, six minutes on two CPUs, kept in the user's cache
  up     a node that is ready; with -cpu-manager static its kubelet gives whole CPUs
         to containers of Guaranteed pods that ask for some; with -nodes 2 a second node
         on this same machine, in namespaces of its own
  down   removes it without a trace
  env    the variables for its users: eval "$(cluster env)"
The directory is $TARETEST_CLUSTER, or /var/lib/tare-cluster.`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	if args[0] == nodeCommand && len(args) == 3 {
		return beFirst(args[1], args[2])
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	policy, nodes := "none", 1
	if args[0] == "up" {
		flags.StringVar(&policy, "cpu-manager", policy, "policy of the kubelet's CPU manager: none or static")
		flags.IntVar(&nodes, "nodes", nodes, "1, or 2 on this same machine")
	}
	if err := flags.Parse(args[1:]); err != nil || flags.NArg() > 0 || policy != "none" && policy != "static" || nodes != 1 && nodes != 2 {
		return errors.New(usage)
	}
	dir, err := filepath.Abs(cmp.Or(os.Getenv("TARETEST_CLUSTER"), "/var/lib/tare-cluster"))
	if err != nil {
		return err
	}
	c := cluster{dir: dir, cpuManager: policy, nodes: nodes}
	if args[0] != "env" && os.Geteuid() != 0 {
		return errors.New("a node needs root")
	}
	switch args[0] {
	case "build":
		_, err := build(ctx)
		_, also := provisioner(ctx)
		return errors.Join(err, also)
	case "up":
		return c.up(ctx)
	case "down":
		return c.down()
	case "env":
		path, err := provisioner(ctx)
		if err != nil {
			return err
		}
		fmt.Printf("export KUBECONFIG=%s CONTAINERD_ADDRESS=%s TARETEST_PROVISIONER=%s\n", c.in("admin.kubeconfig"), c.in("containerd.sock"), path)
		return nil
	}
	return errors.New(usage)
}

// cluster is a cluster in a directory.
type cluster struct {
	dir string
	// cpuManager is the policy of the kubelet's CPU manager.
	cpuManager string
	nodes      int // set by up alone
}

func (c cluster) in(names ...string) string {
	return filepath.Join(append([]string{c.dir}, names...)...)
}
