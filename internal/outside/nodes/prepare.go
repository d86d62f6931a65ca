package nodes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/linux/oom"
	"github.com/tarelab/tare/internal/outside/enter"
	"github.com/tarelab/tare/internal/outside/kube"
	"github.com/tarelab/tare/internal/undo/journal/steps"
)

// Files and directories of the helper in its directory on the node.
const (
	filesDir  = "files" // the files of the order; working directory of tare
	aboutFile = "about.json"
	tokenFile = "token" // of the helper's service account, named by the kubeconfig
)

// prepare makes everything that tare needs on the node.
func (h *host) prepare() error {
	h.dir = dirOf(h.NodeRun)
	if err := h.undo.Record(h.journal, steps.Directory{Path: h.dir}, func() error { return steps.RemoveDirectory(h.dir) }); err != nil {
		return err
	}
	if err := os.Mkdir(h.dir, 0o700); err != nil {
		return fmt.Errorf("make a directory on the node: %w", err)
	}
	if err := enter.CopySelf(h.exe, h.in("tare")); err != nil {
		return fmt.Errorf("copy this binary to the node: %w", err)
	}
	if err := os.Mkdir(h.in(filesDir), 0o700); err != nil {
		return err
	}
	for name, text := range h.Files {
		if err := os.WriteFile(filepath.Join(h.in(filesDir), filepath.Base(name)), text, 0o600); err != nil {
			return err
		}
	}
	if err := h.leavePod(); err != nil {
		return err
	}
	h.reach()
	h.about.Node, h.about.Image, h.about.Command, h.about.Dir = h.Node, h.Image, h.Command, h.Dir
	h.about.Kubelet, h.about.Runtime = h.Kubelet, h.Runtime
	h.about.Cgroup = "/" + h.group.Path
	var err error
	if h.about.OOM, err = ordinaryOOM(); err != nil {
		return err
	}
	b, err := json.Marshal(h.about)
	if err == nil {
		err = os.WriteFile(h.in(aboutFile), b, 0o600)
	}
	return err
}

// leavePod moves this process out of the pod's control groups, whose limits would apply
// to all that is measured.
func (h *host) leavePod() (err error) {
	h.tree, h.group, err = enter.LeaveGroups(h.journal, &h.undo)
	if err == nil {
		err = checkOutside()
	}
	if err != nil {
		return fmt.Errorf("leave the control groups of the pod: %w", err)
	}
	return nil
}

// checkOutside reads back that this process is in no group of a pod.
func checkOutside() error {
	b, err := os.ReadFile("/proc/self/cgroup")
	if err == nil && strings.Contains(string(b), "kubepods") {
		err = fmt.Errorf("still in one:\n%s", b)
	}
	return err
}

// ordinaryOOM sets this process's oom_score_adj to 0 where it may, and returns what it
// is.
func ordinaryOOM() (int, error) {
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("0"), 0)
	return oom.Score()
}

// reachBound is how long the API server may take to answer at one address.
const reachBound = 5 * time.Second

// reach finds the API server from the node: at the client's address, or at the one that
// the cluster gives its pods. Without an API server there are no arms in pods.
func (h *host) reach() {
	token, file := h.in(tokenFile), h.in("kubeconfig")
	if err := os.WriteFile(token, h.token, 0o600); err != nil {
		fmt.Fprintln(os.Stderr, "tare: node helper:", err)
		return
	}
	servers := []kube.Server{h.Server}
	if name, port := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT"); name != "" {
		servers = append(servers, kube.Server{URL: "https://" + net.JoinHostPort(name, port), CA: h.ca})
	}
	var errs []error
	for _, server := range servers {
		err := kube.WriteKubeconfig(file, server, token)
		if err == nil {
			h.cluster, err = connect(file, h.Run)
		}
		if err == nil {
			h.kubeconfig = file
			return
		}
		errs = append(errs, err)
	}
	fmt.Fprintf(os.Stderr, "tare: node helper: the API server is not reached from node %s, so there are no arms in pods: %v\n", h.Node, errors.Join(errs...))
}

// connect connects to a cluster and asks it once, for the helper of a run.
func connect(kubeconfig, run string) (*kube.Cluster, error) {
	ctx, cancel := context.WithTimeout(context.Background(), reachBound)
	defer cancel()
	c, err := kube.Access{Kubeconfig: kubeconfig}.Connect()
	if err != nil {
		return nil, err
	}
	if err = c.FindHelper(ctx, run); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}
