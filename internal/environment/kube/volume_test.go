package kube

import (
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/internal/hint"
	"github.com/tarelab/tare/internal/kube"
)

func TestPlace(t *testing.T) {
	for _, c := range []struct {
		levels string
		spec   environment.Spec
		want   kube.Volume
		wrong  bool
	}{
		{"image=none", environment.Spec{}, kube.Volume{}, false},
		{"volume=emptydir", environment.Spec{}, kube.Volume{}, false},
		{"volume=hostpath", environment.Spec{}, kube.Volume{Path: "dir"}, false},
		{"image=none", environment.Spec{Bind: true}, kube.Volume{Path: "dir"}, false},
		{"image=none", environment.Spec{Volume: "/mnt"}, kube.Volume{Path: "/mnt"}, false},
		{"volume=hostpath", environment.Spec{Volume: "/mnt"}, kube.Volume{Path: "/mnt"}, false},
		{"volume=pvc:fast", environment.Spec{}, kube.Volume{Class: "fast"}, false},
		{"volume=pvc:fast,volume-size=3Gi", environment.Spec{}, kube.Volume{Class: "fast", Size: 3 << 30}, false},
		{"volume=nfs:10.0.0.1:/a/b", environment.Spec{}, kube.Volume{Server: "10.0.0.1", NFS: "/a/b"}, false},
		{"volume=nfs:[fd00::2]:/a", environment.Spec{}, kube.Volume{Server: "[fd00::2]", NFS: "/a"}, false},
		{"volume=emptydir", environment.Spec{Bind: true}, kube.Volume{}, true},
		{"volume=pvc:fast", environment.Spec{Volume: "/mnt"}, kube.Volume{}, true},
	} {
		var s kube.PodSpec
		err := with(t, BestEffort, c.levels).Levels.place(&s, c.spec, "dir")
		if c.wrong {
			if err == nil || !strings.Contains(hint.Of(err), "leave one") {
				t.Errorf("%s with %+v: %v; %s", c.levels, c.spec, err, hint.Of(err))
			}
			continue
		}
		if err != nil || s.Volume != c.want {
			t.Errorf("%s with %+v: %+v %v, want %+v", c.levels, c.spec, s.Volume, err, c.want)
		}
	}
}

func TestEnough(t *testing.T) {
	for data, want := range map[int64]int64{0: 1, 1 << 20: 1, 512 << 20: 2, 3 << 30: 7} {
		if got := enough(data); got != want<<30 {
			t.Errorf("for %d bytes %d, want %d GiB", data, got, want)
		}
	}
}
