package plan

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/loads/sysbench"
	"github.com/tarelab/tare/internal/loads/workload"
)

// A database server is started anew in every arm, and a command in every window: the time of a
// first pass would be over before it had a result.
func TestTheFirstPassIsForQuickLaunches(t *testing.T) {
	c := ladder("")
	c.Workload = func(kind string) (workload.Workload, bool) {
		w, ok := map[string]workload.Workload{"commit": workload.Commit{}, "rpc": workload.RPC{}, "oltp": workload.OLTP{},
			"sysbench": sysbench.Workload{}, "command": workload.Command{}}[kind]
		return w, ok
	}
	e := asked("commit", "rpc", "oltp", "sysbench", "command")
	e.Workloads[4].Params = map[string]string{"command": "true"}
	p, err := Build(e, c, facts.Host{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range p.Loads {
		want := map[string]string{"commit": "host twin container", "rpc": "host twin container", "oltp": "host twin container"}[l.Workload.Name]
		if got := strings.Join(p.FirstPass(&l), " "); got != want {
			t.Errorf("%s: the first pass has %q, want %q", l.Workload.Name, got, want)
		}
	}
	e = asked("commit")
	e.Arms = []string{"cgroup", "container"}
	if p, err = Build(e, c, facts.Host{}, nil); err != nil {
		t.Fatal(err)
	}
	if got := p.FirstPass(&p.Loads[0]); got != nil {
		t.Errorf("four arms have a first pass: %v", got)
	}
}

// The sum of the shares stays, and where it suffices each has its least; a share that is enough grows not.
func TestAtLeast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "loads")
		times := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) time.Duration { return time.Duration(rapid.Int64Range(0, 1e12).Draw(t, "ns")) }), n, n)
		shares, least := times.Draw(t, "shares"), times.Draw(t, "least")
		out := AtLeast(shares, least)
		var before, after, needed time.Duration
		for i := range shares {
			before, after, needed = before+shares[i], after+out[i], needed+least[i]
		}
		if d := after - before; d < -6 || d > 6 { // nanoseconds of rounding
			t.Errorf("%v became %v", before, after)
		}
		for i := range shares {
			if needed <= before && out[i] < least[i] || needed > before && out[i] != shares[i] || shares[i] >= least[i] && out[i] > shares[i] {
				t.Errorf("%v of least %v became %v", shares, least, out)
			}
		}
	})
}
