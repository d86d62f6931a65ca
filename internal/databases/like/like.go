package like

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/base/allow"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/databases/db"
)

// Adopted are the settings that a server of tare's gets.
type Adopted struct {
	// Settings are values by tare's names, Options are passed on to the server.
	Settings map[string]string
	Options  []string
	// Changes are the settings that the server gets otherwise or not at all.
	Changes []Change
}

// Change is a setting of the user's server that tare's server does not have as it stands.
type Change struct {
	From, Name, Value string
	// Used is what the server has instead; empty: the setting is left out.
	Used, Why string
}

// Matches says whether a file may be an option file of the service, by its name.
func Matches(s db.Service, path string) bool {
	return slices.ContainsFunc(s.Describe().Conf.Names, func(pattern string) bool {
		ok, _ := filepath.Match(pattern, strings.ToLower(filepath.Base(path)))
		return ok
	})
}

// File reads option files of a service, a later one after the earlier ones. v is the version of the server
// if it is known.
func File(s db.Service, v db.Version, paths ...string) (Adopted, error) {
	var given []db.Given
	for _, path := range paths {
		more, err := s.Describe().Conf.Read(path, v)
		var line *db.LineError
		switch {
		case errors.As(err, &line):
			return Adopted{}, hint.New(fmt.Errorf("read the settings: %w", err), correctLine)
		case err != nil:
			return Adopted{}, hint.New(fmt.Errorf("read the settings: %w", err), nameReadable)
		}
		given = append(given, more...)
	}
	return adopt(s.Describe(), given)
}

// adopt sorts settings into tare's, options and those that are left out. The last setting of a name counts.
func adopt(d db.Description, given []db.Given) (Adopted, error) {
	a := Adopted{Settings: map[string]string{}}
	last := map[string]db.Given{}
	values := map[string]string{}
	var order []string
	for _, g := range given {
		g.Name = allow.Canonical(g.Name)
		if _, seen := last[g.Name]; !seen {
			order = append(order, g.Name)
		}
		last[g.Name], values[g.Name] = g, g.Value
	}
	for _, name := range order {
		if err := a.add(d, last[name], values); err != nil {
			return Adopted{}, err
		}
	}
	slices.Sort(a.Options)
	return a, nil
}

// add sorts one setting.
func (a *Adopted) add(d db.Description, g db.Given, values map[string]string) error {
	if parameter := d.Options.Parameter(g.Name); parameter != "" {
		return a.set(d, parameter, g, values)
	}
	option := optionOf(d, g.Name)
	if g.Valued || d.Options.Valued {
		option += "=" + g.Value
	}
	switch {
	case d.Options.Fixed(g.Name):
		a.leave(g, sameInAllArms)
	case d.Conf.Omit[g.Name] != "":
		a.leave(g, d.Conf.Omit[g.Name])
	case !d.Options.Has(g.Name):
		a.leave(g, notPassedOn+near(d.Options, g.Name))
	case !allow.Plain(g.Value):
		a.leave(g, valueNotPassedOn)
	case d.Options.Check(option) != nil:
		return invalid(g, d.Options.Check(option))
	default:
		a.Options = append(a.Options, option)
	}
	return nil
}

// optionOf spells an option as the manual of the server does.
func optionOf(d db.Description, name string) string {
	if d.Options.Dashed {
		name = strings.ReplaceAll(name, "_", "-")
	}
	return "--" + name
}

// set sets one of tare's settings.
func (a *Adopted) set(d db.Description, name string, g db.Given, values map[string]string) error {
	value, err := d.Conf.Value(name, g, values)
	if err != nil || value == "" {
		return invalid(g, err)
	}
	i := slices.IndexFunc(d.Settings, func(s db.Setting) bool { return s.Name == name })
	if i < 0 {
		return fmt.Errorf("%s: no setting is called %q", d.Name, name)
	}
	if err := d.Settings[i].Allows(value); err != nil {
		return invalid(g, err)
	}
	a.Settings[name] = value
	return nil
}

func (a *Adopted) leave(g db.Given, why string) {
	a.Changes = append(a.Changes, Change{From: g.From, Name: g.Name, Why: why}) // the value could be a password
}

// invalid is the error about a setting that no server could have.
func invalid(g db.Given, err error) error {
	if err == nil {
		return nil
	}
	return hint.New(fmt.Errorf("%s: %s=%s: %w", g.From, g.Name, g.Value, err), correctLine)
}

// near is the end of the reason about an unknown name that is nearly that of an option.
func near(l allow.List, name string) string {
	if n := hint.Nearest(name, l.Names); n != "" && n != name && len(name) > 8 {
		return "; did you mean " + n + "?"
	}
	return ""
}

// Fit scales the sizes in a down so that together they are at most bytes, and lists the changes. The
// defaults of settings count as far as the service has them.
func (a *Adopted) Fit(d db.Description, bytes int64) {
	sizes := a.sizes(d)
	total := int64(0)
	for _, n := range sizes {
		total += n
	}
	if total <= bytes || bytes <= 0 {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(sizes)) {
		fitted := int64(float64(sizes[name])*float64(bytes)/float64(total)) / db.MiB
		if fitted < leastCache || sizes[name] <= leastCache*db.MiB {
			continue
		}
		a.resize(d, name, sizes[name], fmt.Sprintf("%dM", fitted), total)
	}
}

// leastCache is the size in MiB below which no cache is scaled: 16 MiB.
const leastCache = 16

// resize gives a setting or an option another size.
func (a *Adopted) resize(d db.Description, name string, was int64, size string, total int64) {
	value := fmt.Sprint(was)
	if given, ok := a.Settings[name]; ok {
		a.Settings[name], value = size, given
	} else {
		n, _ := db.Size(size)
		for i, o := range a.Options {
			if option, given, _ := strings.Cut(o, "="); option == optionOf(d, name) {
				a.Options[i], value = fmt.Sprintf("%s=%d", option, n), given
			}
		}
	}
	a.Changes = append(a.Changes, Change{Name: name, Value: value, Used: size, Why: fmt.Sprintf(tooLarge, total/db.MiB)})
}

// sizes are the sizes in bytes of what holds memory, as far as they are given.
func (a *Adopted) sizes(d db.Description) map[string]int64 {
	sizes := map[string]int64{}
	for _, name := range d.Conf.Memory {
		text := a.Settings[name]
		for _, o := range a.Options {
			if option, value, _ := strings.Cut(o, "="); option == optionOf(d, name) {
				text = value
			}
		}
		if n, err := db.Size(strings.ToUpper(text)); err == nil && n > 0 {
			sizes[name] = n
		}
	}
	return sizes
}
