package run

import (
	"testing"

	"github.com/tarelab/tare/internal/databases/dataset"
	"github.com/tarelab/tare/internal/wire"
)

// The program of a server and its password come from tare's own data set, not from the copy that
// processes in the arm can write to.
func TestOnData(t *testing.T) {
	arm := wire.Place{Volume: "/.tare/data", HostVolume: "/scratch/arm/upper/.tare/data"}
	cached := dataset.Prepared{Dir: "/cache/set", Key: "set", Program: "/usr/sbin/mariadbd"}
	p := onData(arm, cached, "/scratch")
	if p.Program != "/usr/sbin/mariadbd" || p.ClientVolume != "/cache/set" || p.ClientFiles != "/scratch" || p.Volume != arm.Volume || p.HostVolume != arm.HostVolume {
		t.Errorf("%+v", p)
	}
	pod := wire.Place{Volume: "/data", ClientVolume: "/client"}
	if p := onData(pod, cached, "/scratch"); p.ClientVolume != "/client" || p.ClientFiles != "" || p.Program == "" {
		t.Errorf("beside a pod: %+v", p)
	}
	for name, none := range map[string]dataset.Prepared{"none": {}, "not in the cache": {Dir: "/scratch/data"}} {
		if p := onData(arm, none, "/scratch"); p.ClientVolume != "" || p.ClientFiles != "" || p.Program != "" {
			t.Errorf("%s: %+v", name, p)
		}
	}
}
