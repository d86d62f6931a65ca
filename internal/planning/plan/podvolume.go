package plan

import (
	"strings"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/host/volume"
	"github.com/tarelab/tare/record"
)

// OnVolumeOfPod returns the word of an environment with the option for a volume of pods. It returns the
// word unchanged if the volume is another one.
func OnVolumeOfPod(env, word string) string {
	if !volume.IsOfPod(word) {
		return env
	}
	name, levels, _ := strings.Cut(env, ":")
	return name + ":" + withVolume(levels, word)
}

// withVolume adds the option to levels; these may be empty.
func withVolume(levels, word string) string {
	if levels != "" {
		levels += ","
	}
	return levels + "volume=" + word
}

// onVolume returns the rung for an arm on a volume. levels are those that the arm's environment names; empty:
// none. A pod makes its own volumes; nothing else can have them.
func (r Rung) onVolume(levels, word string) (Rung, error) {
	if !volume.IsOfPod(word) {
		return r, nil
	}
	can := r.Capabilities()
	if !can.Pod || can.With == nil {
		r.Environment = withoutVolume{r.Environment, word}
		return r, nil
	}
	var err error
	r.Environment, err = can.With(withVolume(levels, word))
	return r, err
}

// onVolume returns the rungs on a volume.
func onVolume(rungs []Rung, word string) (out []Rung, err error) {
	for _, r := range rungs {
		if r, err = r.onVolume("", word); err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// withoutVolume is an environment on a volume that only a pod has.
type withoutVolume struct {
	environment.Environment
	volume string
}

// Support is no, with an arm in a pod as the remedy.
func (w withoutVolume) Support(facts.Host) facts.Support {
	return facts.Unsupported(record.Say("only_of_pod", "volume", w.volume, "environment", w.Name()), record.Say("in_pod"))
}
