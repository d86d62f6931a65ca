package workload

import (
	"fmt"
	"maps"
	"slices"
)

// Beside is a server with its load in the role of a neighbour: another database.
// Both run in the neighbour's group, and its work is the operations of the load.
type Beside struct{ Workload }

func (b Beside) Title() string { return "another database: " + b.Workload.Title() }

// decided are the parameters that are not a neighbour's to choose: nobody asks
// it for windows, and its client is where its server is.
var decided = Values{"client": "inside", "hook": "on"}

// Params are the workload's own, but for what is decided. A server that has a
// socket is reached by it.
func (b Beside) Params() []Param {
	params := slices.DeleteFunc(slices.Clone(b.Workload.Params()), func(p Param) bool { return decided[p.Name] != "" })
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
		if word := decided[p.Name]; word != "" {
			all[p.Name] = word
		}
	}
	s, err := b.Workload.Stages(all)
	if err == nil && (s.Server != nil || s.Windowed != nil) {
		err = fmt.Errorf("%s cannot be a neighbour: it does not run by itself", b.Name())
	}
	return s, err
}
