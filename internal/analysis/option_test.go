package analysis

import (
	"testing"

	"github.com/tarelab/tare/record"
)

// Two arms differ in their network alone if nothing else of their definition does.
func TestNetworkAlone(t *testing.T) {
	a := record.Arm{Name: "docker", Title: record.Say("arm_docker"), Environment: "docker", Options: record.Options{Network: "engine"}, Against: "docker-host"}
	b := record.Arm{Name: "docker-host", Title: record.Say("set_network", "network", "host"), Environment: "docker", Options: record.Options{Network: "host"}}
	if !networkAlone(a, b) {
		t.Error("only the network differs")
	}
	for name, change := range map[string]func(*record.Arm){
		"seccomp": func(x *record.Arm) { x.Seccomp = "unconfined" }, "same": func(x *record.Arm) { x.Network = "engine" },
		"parameters": func(x *record.Arm) { x.Set = map[string]string{"client": "inside"} }, "environment": func(x *record.Arm) { x.Environment = "podman" },
	} {
		other := b
		change(&other)
		if networkAlone(a, other) {
			t.Error(name)
		}
	}
}
