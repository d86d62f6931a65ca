package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/outside/engine"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/record"
)

// Step is one setting on a target that the user named. It is Held: it stays until tare advise --undo.
type Step struct {
	ID      string `json:"id"` // tare-RUN
	Target  string `json:"target"`
	Same    string `json:"same,omitempty"`    // identity of the target: another one may get its name later
	Owner   string `json:"owner,omitempty"`   // address of the engine, or the kubeconfig
	Context string `json:"context,omitempty"` // of the kubeconfig
	Setting string `json:"setting"`           // record.SettingKey
	Wanted  string `json:"wanted"`            // in the words of record.RemedySetting
	Name    string `json:"name"`              // as the owner calls the setting
	In      string `json:"in,omitempty"`      // controller of a control group's file
	// From was read before, To is set, Back takes it back: mostly From. All are in the owner's words.
	From string `json:"from"`
	To   string `json:"to"`
	Back string `json:"back"`
	// Kernel was read from the control group before, in the words of Wanted.
	Kernel string `json:"kernel,omitempty"`
	// Then is written after Back: the weight, which the kernel forgets with cpu.idle.
	Then string `json:"then,omitempty"`
	// Had says that the owner had a file of its own for the setting.
	Had   bool   `json:"had,omitempty"`
	Until string `json:"until,omitempty"` // RFC 3339; empty: no deadline
}

// Kind is the word for it in a journal.
func (Step) Kind() string { return "applied" }

// Held marks the step: Undo leaves it.
func (Step) Held() {}

func (s Step) String() string {
	return fmt.Sprintf("%s of %s: %s -> %s", s.Name, s.Target, shown(s.From), shown(s.To))
}

// Lasts says whether the owner keeps the setting over a restart of the machine.
func (s Step) Lasts() bool {
	return !strings.HasPrefix(s.Target, kindUnit+":") && !strings.HasPrefix(s.Target, kindGroup+":")
}

// Check refuses steps of other runs and settings that this package does not make.
func (s Step) Check(run string) error {
	t, err := Parse(s.Target)
	if err != nil {
		return err
	}
	texts := []string{s.From, s.To, s.Back, s.Then, s.Same, s.Owner, s.Context}
	odd := slices.ContainsFunc(texts, func(x string) bool { return strings.ContainsAny(x, "\n\x00") })
	return journal.Own(s.ID == journal.Prefix+run && s.named(t.Kind) && !odd, s.String())
}

// named says whether the owner of a kind of target has the step's name for its key.
func (s Step) named(kind string) bool {
	key := record.SettingKey(s.Setting)
	switch kind {
	case kindUnit:
		return s.Name != "" && properties()[key] == s.Name
	case kindGroup:
		n := fileNames()[key]
		return s.Name != "" && s.In == n[0] && (s.Name == n[1] || s.Name == n[2])
	case kindDocker, kindPodman:
		return slices.Contains(flagNames()[key], s.Name) && engine.Check(kind, s.Owner) == nil
	case kindPod:
		return slices.Contains(amountNames()[key], s.Name)
	}
	return false
}

// State is what became of a setting.
type State string

// The values of State.
const (
	InForce State = "in force"
	NotSet  State = "not in force" // never set, or taken back
	Changed State = "changed"      // somebody else set another value
	Gone    State = "gone"         // the target is gone, or another one has its name
	Ended   State = "ended"        // with a restart of the machine
)

// State asks the owner. now is the value of Changed.
func (s Step) State(ctx context.Context, restarted bool) (state State, now string, err error) {
	if restarted && !s.Lasts() {
		return Ended, "", nil
	}
	it, err := again(ctx, s)
	if err == nil {
		return s.state(ctx, it)
	}
	if errors.Is(err, errGone) {
		return Gone, "", nil
	}
	return "", "", err
}

func (s Step) state(ctx context.Context, it thing) (State, string, error) {
	now, err := it.read(ctx, s)
	switch {
	case errors.Is(err, errGone):
		return Gone, "", nil
	case err != nil:
		return "", "", err
	case now == s.To:
		return InForce, now, nil
	case now == s.From || now == s.Back:
		return NotSet, now, nil
	}
	return Changed, now, nil
}

// Overdue says whether the deadline of a setting has passed.
func (s Step) Overdue(now time.Time) bool {
	t, err := time.Parse(time.RFC3339, s.Until)
	return err == nil && now.After(t)
}

// Undo takes the setting back if it is the one that tare set.
func (s Step) Undo(*journal.Undoing) error {
	ctx, cancel := context.WithTimeout(context.Background(), callBound)
	defer cancel()
	it, err := again(ctx, s)
	if errors.Is(err, errGone) {
		return nil
	}
	if err != nil {
		return journal.Stays(err)
	}
	if err := s.release(ctx, it); err != nil {
		return journal.Stays(err)
	}
	return nil
}

func (s Step) release(ctx context.Context, it thing) error {
	state, now, err := s.state(ctx, it)
	if err != nil || state == Gone {
		return err
	}
	if state == Changed {
		return hint.New(errors.New(changed(s, now)),
			forgetIt(strings.TrimPrefix(s.ID, journal.Prefix)))
	}
	if err := it.restore(ctx, s); err != nil {
		return fmt.Errorf("take %s of %s back: %w", s.Name, s.Target, err)
	}
	now, err = it.read(ctx, s)
	if err == nil && now != s.From && now != s.Back {
		err = fmt.Errorf("%s of %s was not taken back: it reads %s", s.Name, s.Target, shown(now))
	}
	// An empty list of CPUs comes back as that of all CPUs.
	if g, gerr := it.group(ctx); err == nil && gerr == nil && s.Back == s.From && s.Setting != string(record.KeyCPUSet) {
		if now, ok := inKernel(g, record.SettingKey(s.Setting)); ok && now != s.Kernel {
			err = fmt.Errorf("%s of %s was not taken back: the kernel has %s, and had %s", s.Name, s.Target, shown(now), shown(s.Kernel))
		}
	}
	return err
}

// On says whether a word of the user's names the target of the step: also without the engine, the container
// of a pod, or the suffix .service.
func (s Step) On(word string) bool {
	t, err := Parse(word)
	if err != nil {
		return false
	}
	kind, name, _ := strings.Cut(s.Target, ":")
	switch t.Kind {
	case kindContainer:
		return (kind == kindDocker || kind == kindPodman) && name == t.Name
	case kindPod:
		return kind == kindPod && (name == t.Name || strings.HasPrefix(name, t.Name+"/"))
	case kindUnit:
		return kind == kindUnit && (name == t.Name || name == t.Name+".service")
	case kindGroup:
		return kind == kindGroup && strings.HasSuffix("/"+strings.TrimPrefix(t.Name, "/"), name)
	}
	return s.Target == t.String()
}
