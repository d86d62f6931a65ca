package pods

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/netns"
	"github.com/tarelab/tare/internal/outside/kube"
	"github.com/tarelab/tare/internal/testing/kubetest"
	"github.com/tarelab/tare/internal/undo/journal"
)

// serving opens an arm with a server's port.
func serving(t *testing.T, p Pod, run string) (environment.OpenArm, error) {
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

// TestClusterNetworks checks that a client on the node and one in a pod reach the server through a Service,
// that its target is read back, and that no rule is left.
func TestClusterNetworks(t *testing.T) {
	admin := warm(t)
	t.Run("leads", func(t *testing.T) { // pods are waited for most of the time
		for _, levels := range []string{"network=service", "network=service,client=pod"} {
			t.Run(levels, func(t *testing.T) { t.Parallel(); tryNetwork(t, levels) })
		}
	})
	t.Run("no proxy", tryNoProxy)
	t.Run("rights", func(t *testing.T) { tryServiceRights(t, admin) })
	if _, err := opened(t, with(t, BestEffort, "image=none,network=service"), runID("none")); err == nil || !strings.Contains(err.Error(), "no server") {
		t.Errorf("a Service without a server: %v", err)
	}
}

func tryNetwork(t *testing.T, levels string) {
	env := with(t, Burstable, "image=none,memory=128Mi,"+levels)
	arm, err := serving(t, env, runID("way"))
	if err != nil {
		t.Fatal(err)
	}
	network := env.Levels.network
	s, place := settingsOf(t, arm), arm.Place()
	t.Log(s["network."+network], "leads to", s["network.leads"], "; the client", s["network.client"])
	if place.Dial == place.Listen || s["network."+network] != place.Dial || s["network.leads"] != place.Listen {
		t.Errorf("%+v; %v", place, s)
	}
	if env.Levels.client {
		fromPod(t, arm)
	}
	_, text := arm.Reproduction()
	if !strings.Contains(string(text), "kind: Service") {
		t.Errorf("no Service in %s", text)
	}
	if err := arm.Close(); err != nil {
		t.Error(err)
	}
}

// fromPod checks that the client in its pod reaches the server through the Service, and that connection
// tracking shows the connection with the pod's address.
func fromPod(t *testing.T, opened environment.OpenArm) {
	t.Helper()
	a, place := opened.(*arm), opened.Place()
	server := process(t, opened, false, "serve", place.Listen)
	defer func() { _ = server.Kill(); ended(t, server) }()
	awaitListening(t, place.Listen)
	client := process(t, opened, true, "dial", place.Dial)
	ended(t, client)
	if client.Exit() != (environment.Exit{}) {
		t.Errorf("the client: %+v", client.Exit())
	}
	flows, err := netns.Flows(netip.MustParseAddrPort(place.Dial))
	from := a.client.pod.Status.PodIP
	i := slices.IndexFunc(flows, func(f netns.Flow) bool { return f.From.Addr().String() == from })
	if err != nil || i < 0 {
		t.Fatalf("no connection of %s to %s: %v (%v)", from, place.Dial, flows, err)
	}
	if got := flows[i].Server.String(); got != place.Listen {
		t.Errorf("the connection leads to %s, not %s", got, place.Listen)
	}
	if s := settingsOf(t, opened); !strings.HasPrefix(s["client"], "in pod arm.client") || s["network.leads"] != place.Listen {
		t.Errorf("%v", s)
	}
}

// tryNoProxy opens an arm whose Service no proxy serves.
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
	w := route{dial: netip.AddrPortFrom(at, 45678), pod: netip.MustParseAddrPort(a.Place().Listen)}
	_, err = prove(t.Context(), networkOf(a.agent.Pid), a.clientNetwork(), w, time.Second)
	if err == nil {
		t.Fatal("a Service that nobody serves leads to the pod")
	}
	err = noRoute(w, err)
	t.Log(err, hint.Of(err))
	if !strings.Contains(err.Error(), "cluster IP "+at.String()) || !strings.Contains(hint.Of(err), "kube-proxy") {
		t.Errorf("%v; %s", err, hint.Of(err))
	}
}

// tryServiceRights checks that Rights has the rights that the arm needs, and no more.
func tryServiceRights(t *testing.T, admin *kubetest.Admin) {
	use(t, kube.Access{Kubeconfig: kubetest.Kubeconfig(t, func(u *api.AuthInfo, _ *api.Cluster) { u.Impersonate = "tare-service" })})
	env := with(t, BestEffort, "image=none,network=service")
	t.Run("without", func(t *testing.T) {
		admin.Grant(t, "tare-service")
		s := env.Support(hostWith(t, env))
		if s.Answer != facts.No || !strings.Contains(said.English(s.Reason), "create, get services") || !strings.Contains(said.English(s.Remedy), "--rbac") {
			t.Errorf("%+v", s)
		}
		_, err := serving(t, env, runID("bad"))
		if err == nil || !strings.Contains(err.Error(), `cannot create resource "services"`) || !strings.Contains(hint.Of(err), "--rbac") {
			t.Errorf("%v; %s", err, hint.Of(err))
		}
	})
	t.Run("with", func(t *testing.T) {
		admin.Grant(t, "tare-service", env.Rights())
		if s := env.Support(hostWith(t, env)); s.Answer != facts.Yes {
			t.Errorf("%+v", s)
		}
		if _, err := serving(t, env, runID("good")); err != nil {
			t.Error(err)
		}
	})
}
