package environmenttest

import "testing"

// ledCases says for each case how it runs on a node where tare is not: on an arm that it shares, on an
// arm of its own, or not at all, with the reason.
var ledCases = []struct {
	name, needsNode string
	own             bool
}{
	{name: "exit codes"},
	{name: "ended by a fault"},
	{name: "deaf to signals"},
	{name: "what a process is given"},
	{name: "log and descriptors"},
	{name: "start is cancelled"},
	{name: "data"},
	{name: "children that outlive their parent"},
	{name: "settings"}, // last, because its process stays
	{name: "server and client", own: true},
	{name: "closed while in use", own: true},
	{name: "a session of its own", needsNode: "its processes have no number on this host"},
	{name: "killed from outside", needsNode: "its processes have no number on this host"},
	{name: "out of memory", needsNode: "a limit is set in the pod's groups"},
	{name: "freeze and thaw", needsNode: "a load is paused by its gate, which the tests of that package try"},
	{name: "closed while frozen", needsNode: "nothing is frozen"},
	{name: "killed while frozen", needsNode: "nothing is frozen"},
	{name: "settings changed behind its back", needsNode: "a limit is changed in the pod's groups"},
}

// led runs the cases that do not need the node.
func (s suite) led(t *testing.T) {
	before := TakeSnapshot(t)
	shared := s.open(t)
	for _, l := range ledCases {
		t.Run(l.name, func(t *testing.T) {
			if l.needsNode != "" {
				t.Skip("needs the node: " + l.needsNode)
			}
			f := shared
			if l.own {
				f = s.open(t)
			}
			for _, c := range cases {
				if c.name == l.name {
					c.try(t, f)
				}
			}
			if l.own {
				f.close(t)
			}
		})
	}
	shared.close(t)
	before.MustEqual(t, shared.spec.Run)
}

// NotLed are cases that ledCases lacks, and names in it that are no case.
func NotLed() (all []string) {
	named := map[string]bool{}
	for _, l := range ledCases {
		named[l.name] = true
		if !HasCase(l.name) {
			all = append(all, l.name)
		}
	}
	for _, c := range cases {
		if !named[c.name] {
			all = append(all, c.name)
		}
	}
	return all
}
