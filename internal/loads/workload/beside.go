package workload

import (
	"fmt"
	"maps"
	"slices"

	"github.com/tarelab/tare/record"
)

// Beside is a database server with its client as a neighbour. Both run in the neighbour's control
// group; the neighbour's work is the operations of the client.
type Beside struct{ Workload }

func (b Beside) Title() record.Said {
	return record.Say("load_other_database", "load", b.Workload.Title())
}

// fixed are the parameters that a neighbour cannot choose: it is not asked for windows, and its
// client runs where its server runs.
var fixed = Values{"client": "inside", "hook": "on"}

// Params are the workload's parameters without the fixed ones. The default connection is the
// socket, for servers that have one.
func (b Beside) Params() []Param {
	params := slices.DeleteFunc(slices.Clone(b.Workload.Params()), func(p Param) bool { return fixed[p.Name] != "" })
	for i := range params {
		if params[i].Name == "connect" {
			params[i].Default, params[i].Help = "socket", "how the load reaches the server"
		}
	}
	return params
}

func (b Beside) Stages(v Values) (Stages, error) {
	all := maps.Clone(v)
	for _, p := range b.Workload.Params() {
		if word := fixed[p.Name]; word != "" {
			all[p.Name] = word
		}
	}
	s, err := b.Workload.Stages(all)
	if err == nil && (s.Server != nil || s.Windowed != nil) {
		err = fmt.Errorf("%s cannot be a neighbour: it does not run by itself", b.Name())
	}
	return s, err
}
