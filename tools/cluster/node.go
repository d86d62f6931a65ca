package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// node is a node of the cluster: a kubelet, a containerd and a kube-proxy.
type node struct {
	cluster
	name    string // as the cluster and its own UTS namespace call it
	home    string // directory of the node's files
	mark    string // suffix of the names of its parts: "" or "-2"
	address string // address of its kubelet
	pods    string // addresses of its pods
	groups  string // parent of the control groups of its pods
}

// link are names and addresses of the two ends of the veth pair between the nodes. The second end is in
// the second node's network namespace.
var link = [2]struct{ name, address string }{{"tare-nodes", "10.177.254.1"}, {"tare-node-2", "10.177.254.2"}}

// linkBits is the length of the link's prefix.
const linkBits = 30

// secondGroup is the parent of the control groups of the second node's pods, in every hierarchy.
const secondGroup = "tare-cluster-2"

// address is the address of the API server and the first kubelet: loopback, or, with two nodes, this end
// of the veth pair.
func (c cluster) address() string {
	if c.nodes == 1 {
		return "127.0.0.1"
	}
	return link[0].address
}

// first is the node that is this host.
func (c cluster) first(ctx context.Context) (node, error) {
	host, err := os.Hostname()
	if err != nil {
		return node{}, err
	}
	n := node{cluster: c, name: strings.ToLower(strings.TrimSpace(host)), home: c.dir, address: c.address(), pods: "10.177.0.0/24", groups: "/"}
	if c.nodes == 1 {
		n.name = nodeName(ctx, n.name)
	}
	return n, nil
}

// second is the other node, which has its own namespaces.
func (c cluster) second(first node) node {
	return node{
		cluster: c, name: first.name + "-2", home: c.in("second"), mark: "-2", address: link[1].address,
		pods: "10.177.1.0/24", groups: "/" + secondGroup,
	}
}

// at is the path of a file of the node.
func (n node) at(names ...string) string {
	return filepath.Join(append([]string{n.home}, names...)...)
}

func (n node) write(name, text string) error {
	return os.WriteFile(n.at(name), []byte(text), 0o600)
}

// configure writes the configuration of the node's parts.
func (n node) configure(p ports) error {
	for _, d := range []string{"cni", "pods"} {
		if err := os.MkdirAll(n.at(d), 0o755); err != nil {
			return err
		}
	}
	return errors.Join(n.containerdConfig(), n.cniConfig(), n.kubeletConfig(p), n.proxyConfig(p), n.write("resolv.conf", ""))
}

// start starts a part of the node, in its namespaces.
func (n node) start(name, path string, args ...string) error {
	return n.cluster.start(n.inside, name+n.mark, path, args...)
}

func (n node) ctr(args ...string) error {
	out, err := exec.Command("ctr", append([]string{"--address", n.at("containerd.sock"), "-n", "k8s.io"}, args...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ctr %s: %w: %s", args[0], err, strings.TrimSpace(string(out)))
	}
	return nil
}

func (n node) importPause(bin string) error {
	file := n.at("pause.tar")
	if err := writePause(bin+"/pause", file); err != nil {
		return err
	}
	return n.ctr("images", "import", file)
}

// runtime starts the node's containerd and loads the pause image.
func (n node) runtime(run starter, bin string) error {
	if err := run(n, "containerd", "containerd", "--config", n.at("containerd.toml")); err != nil {
		return err
	}
	if err := n.await("containerd", []string{"containerd" + n.mark}, func() error { return n.ctr("version") }); err != nil {
		return err
	}
	return n.importPause(bin)
}

// begin starts the kubelet and kube-proxy of the node.
func (n node) begin(run starter, bin string) error {
	return errors.Join(
		run(n, "kubelet", bin+"/kubelet", n.kubeletArgs()...),
		run(n, "kube-proxy", bin+"/kube-proxy", "--config="+n.at("proxy.yaml")))
}
