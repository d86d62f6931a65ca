package launchtest

import (
	"fmt"
	"testing"

	"github.com/tarelab/tare/internal/environment"
)

// Chosen opens an environment that makes containers with each word of what can
// be chosen of them: it is read back, and a server in it is reached.
func Chosen(t *testing.T, e environment.Environment) {
	for i, c := range []environment.Container{
		{Network: environment.NetworkHost, Capabilities: environment.NoCapabilities},
		{Network: environment.NetworkBridge, Seccomp: environment.Unconfined},
		{Network: environment.NetworkPublished, Seccomp: environment.Default, Capabilities: environment.Default},
	} {
		t.Run(fmt.Sprint(c.Network, c.Seccomp, c.Capabilities), func(t *testing.T) {
			port := freePort(t)
			a := Open(t, e, func(s *environment.Spec) { s.Port, s.Arm, s.Container = port, fmt.Sprint("chosen", i), c })
			place := a.Place()
			_, v := Start(t, a, environment.Process{Args: []string{Look, "serve", place.Listen}})
			if _, err := a.Settings(); err != nil {
				t.Error(err)
			}
			client, _ := Start(t, a, environment.Process{Args: []string{Look, "dial", place.Dial}, Outside: true})
			<-client.Done()
			if client.Exit().Code != 0 {
				t.Errorf("client: %+v (listen %s, dial %s)", client.Exit(), place.Listen, place.Dial)
			}
			filter, power := "2", false
			if c.Seccomp == environment.Unconfined {
				filter = "0"
			}
			if c.Capabilities == environment.NoCapabilities {
				power = v.Status["CapEff"] != "0000000000000000"
			}
			if v.Status["Seccomp"] != filter || power {
				t.Errorf("seccomp %s, capabilities %s", v.Status["Seccomp"], v.Status["CapEff"])
			}
			if own := place.Dial != place.Listen; own != (c.Network == environment.NetworkPublished) {
				t.Errorf("network %s: listens at %s, is reached at %s", c.Network, place.Listen, place.Dial)
			}
		})
	}
}
