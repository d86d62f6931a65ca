package kube

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/internal/environment/environmenttest"
	"github.com/tarelab/tare/internal/environment/inspect"
	"github.com/tarelab/tare/internal/hint"
	"github.com/tarelab/tare/internal/journal"
	"github.com/tarelab/tare/internal/kube"
	"github.com/tarelab/tare/internal/kube/kubetest"
)

// serving opens an arm with a server's port.
func serving(t *testing.T, p Pod, run string) (environment.Arm, error) {
	t.Helper()
	j, err := journal.Open(t.TempDir(), run)
	if err != nil {
		t.Fatal(err)
	}
	arm, err := p.Open(t.Context(), environment.Spec{Run: run, Arm: "arm", Scratch: t.TempDir(), Journal: j, Port: 45678})
	t.Cleanup(func() {
		if arm != nil {
			if err := arm.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return arm, err
}

// TestClusterNetworks: a client on the node reaches the server by a Service and by
// a published port; where they lead is read back, and no rule is left.
func TestClusterNetworks(t *testing.T) {
	admin := warm(t)
	for network, cases := range map[string][]string{
		serviceNetwork: {"server and client", "closed while in use"}, portNetwork: {"server and client"},
	} {
		t.Run(network, func(t *testing.T) { tryNetwork(t, network, cases) })
	}
	t.Run("no proxy", tryNoProxy)
	t.Run("rights", func(t *testing.T) { tryServiceRights(t, admin) })
	if _, err := opened(t, with(t, BestEffort, "image=none,network=service"), runID("none")); err == nil || !strings.Contains(err.Error(), "no server") {
		t.Errorf("a Service without a server: %v", err)
	}
}

func tryNetwork(t *testing.T, network string, cases []string) {
	env := with(t, Burstable, "image=none,memory=128Mi,network="+network)
	arm, err := serving(t, env, runID("way")) // the node keeps chains of the first published port
	if err != nil {
		t.Fatal(err)
	}
	s, place := settingsOf(t, arm), arm.Place()
	t.Log(s["network."+network], "leads to", s["network.leads"], "; the client", s["network.client"])
	if place.Dial == place.Listen || s["network."+network] != place.Dial || s["network.leads"] != place.Listen {
		t.Errorf("%+v; %v", place, s)
	}
	_, text := arm.(environment.Reproducible).Reproduction()
	if want := map[string]string{serviceNetwork: "kind: Service", portNetwork: "hostPort: 45678"}[network]; !strings.Contains(string(text), want) {
		t.Errorf("no %q in %s", want, text)
	}
	if needs := strings.Contains(s["pod.security"], "hostPort"); needs != (network == portNetwork) {
		t.Errorf("needs %q", s["pod.security"])
	}
	if err := arm.Close(); err != nil {
		t.Fatal(err)
	}
	environmenttest.Run(t, env, inspect.HostAt("/", t.TempDir()), environmenttest.Options{Cases: cases})
}

// tryNoProxy: nobody serves the Service.
func tryNoProxy(t *testing.T) {
	opened, err := serving(t, with(t, BestEffort, "image=none"), runID("proxy"))
	if err != nil {
		t.Fatal(err)
	}
	a := opened.(*arm)
	s := a.spec.ServiceOf()
	s.Labels["service.kubernetes.io/service-proxy-name"] = "somebody-else" // kube-proxy leaves it alone
	at, err := a.cluster.CreateService(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	w := way{dial: netip.AddrPortFrom(at, 45678), pod: netip.MustParseAddrPort(a.Place().Listen)}
	_, err = prove(t.Context(), networkOf(a.keeper.Pid), a.clientNetwork(), w, time.Second)
	if err == nil {
		t.Fatal("a Service that nobody serves leads to the pod")
	}
	err = noWay(a.spec, w, err)
	t.Log(err, hint.Of(err))
	if !strings.Contains(err.Error(), "cluster IP "+at.String()) || !strings.Contains(hint.Of(err), "kube-proxy") {
		t.Errorf("%v; %s", err, hint.Of(err))
	}
}

// tryServiceRights: the rights are those that the arm needs, and no more.
func tryServiceRights(t *testing.T, admin *kubetest.Admin) {
	use(t, kube.Access{Kubeconfig: kubetest.Kubeconfig(t, func(u *api.AuthInfo, _ *api.Cluster) { u.Impersonate = "tare-service" })})
	env := with(t, BestEffort, "image=none,network=service")
	t.Run("without", func(t *testing.T) {
		admin.Grant(t, "tare-service")
		s := env.Support(inspect.HostAt("/", t.TempDir()))
		if s.Answer != environment.No || !strings.Contains(s.Reason, "create, get services") || !strings.Contains(s.Remedy, "--rbac") {
			t.Errorf("%+v", s)
		}
		_, err := serving(t, env, runID("bad"))
		if err == nil || !strings.Contains(err.Error(), `cannot create resource "services"`) || !strings.Contains(hint.Of(err), "--rbac") {
			t.Errorf("%v; %s", err, hint.Of(err))
		}
	})
	t.Run("with", func(t *testing.T) {
		admin.Grant(t, "tare-service", env.Rights())
		if s := env.Support(inspect.HostAt("/", t.TempDir())); s.Answer != environment.Yes {
			t.Errorf("%+v", s)
		}
		if _, err := serving(t, env, runID("good")); err != nil {
			t.Error(err)
		}
	})
}
