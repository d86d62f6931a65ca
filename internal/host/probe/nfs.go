package probe

import (
	"fmt"
	"strings"

	"github.com/tarelab/tare/internal/linux/proc"
)

// nfsMount observes the requests to the NFS server with the arm's data. The kernel counts three
// times: a request waits to be sent (queue); it is with the network and the server until the
// answer (rtt); and it has been executed when the client has processed the answer (execute).
// The volume's setting volume.wire is the network's part of rtt.
type nfsMount struct{}

func (nfsMount) Name() string { return "NFS requests" }

// nfsOps are the kinds of requests with metrics of their own, by the kernel's names.
func nfsOps() []string { return []string{"READ", "WRITE", "COMMIT", "GETATTR"} }

func (nfsMount) Metrics() []Metric {
	all := []Metric{
		{Name: "nfs.requests", Unit: "1", PerOp: true, Help: helpNFSRequests},
		{Name: "nfs.retransmits", Unit: "1", PerOp: true, Help: helpNFSRetransmits},
		{Name: "nfs.sent", Unit: "B", PerOp: true, Help: helpNFSSent},
		{Name: "nfs.received", Unit: "B", PerOp: true, Help: helpNFSReceived},
	}
	for _, op := range nfsOps() {
		name := "nfs." + strings.ToLower(op)
		requests := name + ".requests"
		all = append(all,
			Metric{Name: requests, Unit: "1", PerOp: true, Help: helpNFSOf(op)},
			Metric{Name: name + ".queue", Unit: "s", Of: requests, Help: helpNFSQueue(op)},
			Metric{Name: name + ".rtt", Unit: "s", Of: requests, Help: helpNFSRTT(op)},
			Metric{Name: name + ".execute", Unit: "s", Of: requests, Help: helpNFSExecute(op)})
	}
	return all
}

func (p nfsMount) Open(t Target) (Reader, error) {
	m, err := dataMount(t)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(m.Type, "nfs") {
		return nil, fmt.Errorf("%w: the data is not on NFS", errNothing)
	}
	metrics := p.Metrics()
	names := make([]string, len(metrics))
	for i, m := range metrics {
		names[i] = m.Name
	}
	point, ops := m.Point, nfsOps()
	all := make([]proc.NFSOps, 1+len(ops))
	return openFiles(source{paths: []string{proc.FS(t.Root).Path("proc/self/mountstats")}, names: names,
		parse: func(text []byte, dst []float64) error {
			if err := proc.NFSStats(text, point, ops, all); err != nil {
				return err
			}
			dst[0], dst[1], dst[2], dst[3] = all[0].Requests, max(all[0].Sent-all[0].Requests, 0), all[0].BytesSent, all[0].BytesGot
			for i, o := range all[1:] {
				copy(dst[4+4*i:], []float64{o.Requests, o.Queued, o.Answered, o.Taken})
			}
			return nil
		}})
}
