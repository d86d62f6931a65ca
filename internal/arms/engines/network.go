package engines

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/outside/engine"
	"github.com/tarelab/tare/record"
)

// With network: engine the engine publishes the port: Docker by docker0, its rules and docker-proxy
// on the host, Podman by its bridge and rules. Podman leaves bridge, rules, sysctls and a mount
// behind, so its program and the client of the server run in a network namespace that stands for the
// host's and ends with the arm. docker-proxy is not in the arm's groups: it is neither frozen nor counted.

// engineNetwork says that root's engine makes the network.
func (a *arm) engineNetwork() bool {
	return a.user == "" && a.Spec.Port != 0 && a.Spec.Container.Network == environment.NetworkEngine
}

// openNetwork makes the network, or what the engine needs to make it.
func (a *arm) openNetwork(ctx context.Context) error {
	if !a.engineNetwork() {
		return a.OpenNetwork()
	}
	if a.kind == Podman {
		namespaces, err := engine.NewNamespaces()
		if err != nil {
			return err
		}
		a.Undo(namespaces.Close)
		a.engine.Namespaces, a.HostNet = namespaces, namespaces.Net
	}
	err := a.engine.CanPublish(ctx)
	if errors.Is(err, engine.ErrNoNetwork) {
		return hint.New(fmt.Errorf("network %s: %w: %s: %w", environment.NetworkEngine, facts.ErrUnsupported, a.kind.Name(), err),
			"start dockerd without --bridge=none; or network: published")
	}
	return err
}

// networkChange is the change that the engine makes for its own network.
func (k Kind) networkChange() facts.Change {
	if k == Podman {
		return facts.Changed(messages.Say("change.room"), messages.Say("change.nameless"), messages.Say("change.room.podman"))
	}
	return facts.Changed(messages.Say("change.port"), messages.Say("change.port.docker"))
}

// networkSettings reads back the address and the published port.
func (a *arm) networkSettings() ([]record.Setting, error) {
	if !a.engineNetwork() {
		return nil, nil
	}
	name := func(what string) string { return a.kind.Name() + "." + what }
	got := "none"
	if len(a.state.Published) == 1 {
		got = a.state.Published[0]
	}
	published, err := launch.Wanted(name("published"), "127.0.0.1:"+strconv.Itoa(a.Spec.Port), got)
	all := []record.Setting{{Name: name("address"), Got: a.state.Address}, published}
	if a.kind == Docker {
		by := "none"
		if a.proxy != 0 {
			by = "docker-proxy, outside of the arm's groups"
		}
		all = append(all, record.Setting{Name: name("proxy"), Got: by})
	}
	return all, err
}

// proxyOf is the pid of the docker-proxy that forwards a port of the host; 0: none, for a daemon may
// do without one.
func proxyOf(fs proc.FS, port int) int {
	files, _ := filepath.Glob(fs.Path("proc/[0-9]*/cmdline"))
	for _, file := range files {
		b, err := os.ReadFile(file)
		args := strings.Split(string(b), "\x00")
		if err != nil || filepath.Base(args[0]) != "docker-proxy" {
			continue
		}
		i := slices.Index(args, "-host-port")
		if i >= 0 && i+1 < len(args) && args[i+1] == strconv.Itoa(port) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			return pid
		}
	}
	return 0
}
