package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// up brings the cluster up. After a failure it prints the logs and takes everything down again.
func (c cluster) up(ctx context.Context) error {
	if c.pid("kubelet") != 0 {
		fmt.Fprintln(os.Stderr, "cluster: it is up already")
		return nil
	}
	bin, err := build(ctx)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(c.dir); err == nil {
		if err := c.down(); err != nil {
			return fmt.Errorf("remove what is left of an earlier one: %w", err)
		}
	}
	if groups := podGroups(); len(groups) > 0 {
		return fmt.Errorf("this host has pods already (%s): set KUBECONFIG and use its own cluster", groups[0])
	}
	began := time.Now()
	if err := c.bring(ctx, bin); err != nil {
		return errors.Join(err, c.down())
	}
	fmt.Fprintf(os.Stderr, "cluster: ready after %v; eval \"$(go -C tools/cluster run . env)\"\n", time.Since(began).Round(time.Second))
	return nil
}

func (c cluster) bring(ctx context.Context, bin string) error {
	if err := os.MkdirAll(c.dir, 0o711); err != nil { // pods must reach their files below it
		return err
	}
	if err := c.remember(); err != nil {
		return errors.Join(err, os.Remove(c.dir))
	}
	for _, d := range []string{"log", "pid", "api"} {
		if err := os.MkdirAll(c.in(d), 0o755); err != nil {
			return err
		}
	}
	// etcd syncs each change, and a measured load may keep the disk busy for seconds: its data are
	// in memory and end with the cluster.
	if err := os.Mkdir(c.in("etcd"), 0o700); err != nil {
		return err
	}
	if err := unix.Mount("tare-etcd", c.in("etcd"), "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0700,size=512m"); err != nil {
		return fmt.Errorf("mount a tmpfs for etcd: %w", err)
	}
	n, err := c.first(ctx)
	if err != nil {
		return err
	}
	all := []node{n}
	if c.nodes > 1 {
		all = append(all, c.second(n))
	}
	p, err := freePorts()
	if err != nil {
		return err
	}
	s, err := newCerts(c)
	if err == nil {
		err = c.secrets(s, p)
	}
	for _, n := range all {
		if err == nil {
			err = errors.Join(n.configure(p), n.secrets(s, p))
		}
	}
	if err != nil {
		return err
	}
	api, err := c.client(p)
	if err != nil {
		return err
	}
	return c.order(ctx, bin, all, p, api)
}

// nodeName is the host name as the kubelet writes it, if it resolves to this host: the API server reaches
// the kubelet, which listens on loopback, by the name of its node.
func nodeName(ctx context.Context, host string) string {
	name := strings.ToLower(strings.TrimSpace(host))
	addresses, err := net.DefaultResolver.LookupHost(ctx, name)
	if err != nil || !slices.Contains(addresses, "127.0.0.1") {
		return "localhost"
	}
	return name
}

// starter starts a part of a node.
type starter func(n node, name, path string, args ...string) error

// order starts the parts, each after those that it needs.
func (c cluster) order(ctx context.Context, bin string, all []node, p ports, api func(path string) ([]byte, error)) error {
	var running []string
	run := func(n node, name, path string, args ...string) error {
		running = append(running, name+n.mark)
		err := errors.Join(ctx.Err(), n.start(name, path, args...))
		if name != "containerd" { // its containers would inherit it
			c.prefer(name + n.mark)
		}
		return err
	}
	host := all[0]
	err := errors.Join(
		openForward(),
		run(host, "etcd", "etcd", c.etcdArgs(p)...),
		c.bootOthers(all),
		run(host, "kube-apiserver", bin+"/kube-apiserver", c.apiArgs(p)...))
	for _, n := range all {
		if err == nil {
			err = n.runtime(run, bin)
		}
	}
	if err == nil {
		err = c.await("the API server", running, func() error { _, err := api("/readyz"); return err })
	}
	if err == nil {
		err = errors.Join(
			run(host, "kube-controller-manager", bin+"/kube-controller-manager", c.controllerArgs()...),
			run(host, "kube-scheduler", bin+"/kube-scheduler", c.schedulerArgs()...))
	}
	for _, n := range all {
		if err == nil {
			err = n.begin(run, bin)
		}
	}
	for _, n := range all {
		if err == nil {
			err = c.await("node "+n.name, running, func() error { return errors.Join(ctx.Err(), ready(api, n.name)) })
		}
		if err == nil {
			err = c.await("the rules of kube-proxy", running, func() error { return errors.Join(ctx.Err(), n.hasRules()) })
		}
	}
	return err
}

// bootOthers boots the second node, if there is one.
func (c cluster) bootOthers(all []node) error {
	for _, n := range all[1:] {
		if err := n.boot(); err != nil {
			return err
		}
	}
	return nil
}

// server is the address of the API server.
func (c cluster) server(p ports) string { return fmt.Sprintf("https://%s:%d", c.address(), p.api) }

// secrets writes keys and certificates.
func (c cluster) secrets(s *certs, p ports) error {
	server := c.server(p)
	return errors.Join(
		s.serviceAccounts(),
		s.pair("etcd", "etcd"), s.pair("api", "kube-apiserver"), s.pair("admin", "tare-admin", "system:masters"),
		s.kubeconfig(c.in("admin.kubeconfig"), server, "tare-admin", "system:masters"),
		s.kubeconfig(c.in("controller.kubeconfig"), server, "system:kube-controller-manager"),
		s.kubeconfig(c.in("scheduler.kubeconfig"), server, "system:kube-scheduler"),
		s.kubeconfig(c.in("proxy.kubeconfig"), server, "system:kube-proxy"))
}

// secrets writes the kubeconfig of the node's kubelet.
func (n node) secrets(s *certs, p ports) error {
	return s.kubeconfig(n.at("kubelet.kubeconfig"), n.server(p), "system:node:"+n.name, "system:nodes")
}

// client is a client of the API server with the administrator's rights.
func (c cluster) client(p ports) (func(path string) ([]byte, error), error) {
	pair, err := tls.LoadX509KeyPair(c.in("admin.crt"), c.in("admin.key"))
	if err != nil {
		return nil, err
	}
	ca, err := os.ReadFile(c.in("ca.crt"))
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	h := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}},
	}}
	return func(path string) ([]byte, error) {
		r, err := h.Get(c.server(p) + path)
		if err != nil {
			return nil, err
		}
		defer r.Body.Close()
		b, err := io.ReadAll(r.Body)
		if err == nil && r.StatusCode != http.StatusOK {
			err = fmt.Errorf("%s: %s: %s", path, r.Status, b)
		}
		return b, err
	}, nil
}

// ready is nil when pods can be scheduled and start.
func ready(api func(string) ([]byte, error), name string) error {
	b, err := api("/api/v1/nodes/" + name)
	if err != nil {
		return err
	}
	var node struct {
		Spec struct {
			Taints []struct{ Key string }
		}
		Status struct {
			Conditions []struct{ Type, Status, Message string }
		}
	}
	if err := json.Unmarshal(b, &node); err != nil {
		return err
	}
	if len(node.Spec.Taints) > 0 {
		return fmt.Errorf("the node has the taint %s", node.Spec.Taints[0].Key)
	}
	for _, cond := range node.Status.Conditions {
		if cond.Type == "Ready" && cond.Status == "True" {
			_, err := api("/api/v1/namespaces/default/serviceaccounts/default")
			return err
		} else if cond.Type == "Ready" {
			return errors.New("the node is not ready: " + cond.Message)
		}
	}
	return errors.New("the node is not ready")
}

// freePorts finds free ports of loopback.
func freePorts() (p ports, err error) {
	var listeners []net.Listener
	defer func() {
		for _, l := range listeners {
			l.Close()
		}
	}()
	for _, to := range []*int{&p.etcd, &p.peer, &p.api, &p.kubelet, &p.health, &p.metrics} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return p, err
		}
		listeners = append(listeners, l)
		*to = l.Addr().(*net.TCPAddr).Port
	}
	return p, nil
}
