package agent

import "os"

// requests are all things that an agent can be asked for. A request without any asks for the
// clock, which every answer has.
var requests = []struct {
	asked func(r request) bool
	do    func(a *agent, r request, files []*os.File) (event, error)
	// waits says that do may wait, for the volume, a window or processes: it runs in a
	// goroutine of its own.
	waits bool
}{
	{func(r request) bool { return r.Start != nil }, (*agent).start, false},
	{func(r request) bool { return r.Kill != 0 }, (*agent).killStarted, false},
	{func(r request) bool { return r.Gate != nil }, (*agent).setGate, true},
	{func(r request) bool { return r.Pause }, (*agent).pause, true},
	{func(r request) bool { return r.Measure != nil }, (*agent).measure, true},
	{func(r request) bool { return r.Watch != nil }, (*agent).watch, true},
	{func(r request) bool { return r.Look }, (*agent).look, true},
	{func(r request) bool { return r.Echo != nil }, (*agent).startEcho, false},
	{func(r request) bool { return r.StopEcho }, (*agent).stopEcho, false},
	{func(r request) bool { return r.Probe != nil }, (*agent).dialProbe, true},
	{func(r request) bool { return r.Try }, (*agent).try, true},
	{func(r request) bool { return r.Stop != nil }, (*agent).stopAll, true},
	{func(r request) bool { return r.Resume }, (*agent).resumeAll, false},
}

// count counts what the request asks for; tare asks for one at most.
func (r request) count() (n int) {
	for _, k := range requests {
		if k.asked(r) {
			n++
		}
	}
	return n
}

// execute does what a request asks for and answers it.
func (a *agent) execute(r request, files []*os.File) {
	for _, k := range requests {
		if !k.asked(r) {
			continue
		}
		answer := func() {
			e, err := k.do(a, r, files)
			a.answer(r, e, err)
		}
		if k.waits {
			go answer()
		} else {
			answer()
		}
		return
	}
	a.answer(r, event{}, nil)
}
