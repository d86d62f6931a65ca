package like

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tarelab/tare/internal/base/allow"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/record"
)

// Adopted are the settings that a server of tare's gets.
type Adopted struct {
	// Settings are values by tare's names, Options are passed on to the server.
	Settings map[string]string
	Options  []string
	// Places are where settings and options come from, by their names.
	Places map[string]string
	// Changes are the settings that the server gets otherwise or not at all.
	Changes []Change
	// Given is the number of settings that were read.
	Given int
}

// Change is a setting of the user's server that tare's server does not have as it stands.
type Change struct {
	From, Name, Value string
	// Used is what the server has instead; empty: the setting is left out.
	Used string
	Why  record.Said
}

// Matches says whether a file may be an option file of the service, by its name.
func Matches(s db.Service, path string) bool {
	return slices.ContainsFunc(s.Describe().Conf.Names, func(pattern string) bool {
		ok, _ := filepath.Match(pattern, strings.ToLower(filepath.Base(path)))
		return ok
	})
}

// Target is the server that gets the settings.
type Target struct {
	Service db.Service
	// Version is the zero Version if it is unknown.
	Version db.Version
	// Own are the values that the server program has by itself, by name; nil: unknown.
	Own map[string]string
	// Try asks the program whether it takes settings and options; nil: it cannot be asked.
	Try Trial
}

// name is the product for people.
func (t Target) name() string {
	if t.Version.Flavour == "" {
		return db.ProductName(t.Service.Describe().Name)
	}
	return t.Version.Product()
}

// File reads option files of a service, a later one after the earlier ones.
func File(t Target, paths ...string) (Adopted, error) {
	var given []db.Given
	for _, path := range paths {
		more, err := t.Service.Describe().Conf.Read(path, t.Version)
		var line *db.LineError
		switch {
		case errors.As(err, &line):
			return Adopted{}, hint.New(fmt.Errorf("read the settings: %w", err), correctLine)
		case err != nil:
			return Adopted{}, hint.New(fmt.Errorf("read the settings: %w", err), nameReadable)
		}
		given = append(given, more...)
	}
	return adopt(t, given, false)
}

// adopt sorts settings into tare's, options and those that are left out. The last setting of a name counts. What none of
// them sets is what the server has by itself. running says that a server reported its settings.
func adopt(t Target, given []db.Given, running bool) (Adopted, error) {
	a := Adopted{Settings: map[string]string{}, Places: map[string]string{}, Given: len(given)}
	d := t.Service.Describe()
	last := map[string]db.Given{}
	var order []string
	for _, g := range append(t.own(), given...) {
		g.Name = allow.Canonical(g.Name)
		if _, seen := last[g.Name]; !seen {
			order = append(order, g.Name)
		}
		last[g.Name] = g
	}
	slices.SortStableFunc(order, func(x, y string) int { return ownFirst(last[x], last[y]) })
	for _, name := range order {
		g := last[name]
		why, err := t.refused(g, running)
		switch {
		case err != nil:
			return Adopted{}, err
		case !why.IsZero():
			a.leave(g, why)
			delete(last, name)
		}
	}
	for _, name := range order {
		g, kept := last[name]
		if !kept {
			continue
		}
		if err := a.add(d, g, last); err != nil {
			return Adopted{}, err
		}
	}
	slices.Sort(a.Options)
	a.leaveToServer(d)
	return a, a.try(t, running)
}

// own are the values that the program has by itself, of the settings that tare knows.
func (t Target) own() (all []db.Given) {
	for _, name := range t.Service.Describe().Own.Names {
		if value, has := t.Own[name]; has {
			all = append(all, db.Given{Name: name, Value: value, Valued: true, From: t.name(), Own: true})
		}
	}
	return all
}

// ownFirst puts values that nobody has set before those that replace them.
func ownFirst(a, b db.Given) int {
	switch {
	case a.Own == b.Own:
		return 0
	case a.Own:
		return -1
	}
	return 1
}

// refused returns why a setting is left out, or an error if the server cannot have it.
func (t Target) refused(g db.Given, running bool) (why record.Said, err error) {
	d := t.Service.Describe()
	chooses, sizing := d.Conf.Sizing[g.Name]
	switch {
	case sizing && off(g.Value) && g.Valued:
		return isOff, nil
	case sizing && running:
		return sizesChosen(chooses), nil
	case sizing:
		return record.Said{}, hint.New(fmt.Errorf("%s: %s: it chooses %s, and each arm has its own server", g.From, g.Name, chooses),
			"name the sizes instead, or ask the running server for them: --like mysql://USER@HOST")
	case t.Own == nil || g.Own || d.Options.Parameter(g.Name) == "":
		return record.Said{}, nil
	}
	if _, has := t.Own[strings.TrimPrefix(g.Name, "skip_")]; has {
		return record.Said{}, nil
	}
	if t.Try != nil && !running { // some servers ignore what they had once
		one := Adopted{Options: []string{optionOf(d, g.Name) + "=" + g.Value}, Places: map[string]string{optionOf(d, g.Name): g.From}}
		err = one.try(t, false)
	}
	return notHad(t.name()), err
}

func off(value string) bool {
	return slices.Contains([]string{"0", "off", "false"}, strings.ToLower(value))
}

// leaveToServer leaves settings without a value to the server, where that is possible.
func (a *Adopted) leaveToServer(d db.Description) {
	for _, s := range d.Settings {
		if _, set := a.Settings[s.Name]; !set && s.Allows(db.Leave) == nil {
			a.Settings[s.Name] = db.Leave
		}
	}
}

// add sorts one setting.
func (a *Adopted) add(d db.Description, g db.Given, all map[string]db.Given) error {
	if parameter := d.Options.Parameter(g.Name); parameter != "" {
		return a.set(d, parameter, g, all)
	}
	option := optionOf(d, g.Name)
	name := option
	if g.Valued || d.Options.Valued {
		option += "=" + g.Value
	}
	switch {
	case d.Options.Fixed(g.Name):
		a.leave(g, sameInAllArms)
	case d.Conf.Omit[g.Name] != "":
		a.leave(g, omitted(d.Conf.Omit[g.Name]))
	case !d.Options.Has(g.Name) && !g.Valued:
		g.Name = unnamed // the line may be a password alone
		a.leave(g, notPassedOn)
	case !d.Options.Has(g.Name):
		a.leave(g, unknown(d.Options, g.Name))
	case !allow.Plain(g.Value):
		a.leave(g, valueNotPassedOn)
	case d.Options.Check(option) != nil:
		return invalid(g, d.Options.Check(option))
	default:
		a.Options, a.Places[name] = append(a.Options, option), g.From
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
func (a *Adopted) set(d db.Description, name string, g db.Given, all map[string]db.Given) error {
	value, err := d.Conf.Value(name, g, all)
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
	if g.Own {
		a.Settings[name] = short(d.Settings[i], value)
	} else {
		a.Places[name] = g.From
	}
	return nil
}

// short writes a size with M, as tare's own values are: 96M of 100663296.
func short(s db.Setting, value string) string {
	n, err := db.Size(value)
	if _, digits := strconv.ParseInt(value, 10, 64); err != nil || digits != nil || n < db.MiB || n%db.MiB != 0 || !strings.HasSuffix(s.Default, "M") && !strings.HasSuffix(s.Default, "G") {
		return value
	}
	return fmt.Sprintf("%dM", n/db.MiB)
}

func (a *Adopted) leave(g db.Given, why record.Said) {
	a.Changes = append(a.Changes, Change{From: g.From, Name: g.Name, Why: why}) // the value could be a password
}

// invalid is the error about a setting that no server could have. It does not show the value, which may be a secret.
func invalid(g db.Given, err error) error {
	if err == nil {
		return nil
	}
	wanted := "another value"
	var value *db.ValueError
	if errors.As(err, &value) {
		wanted = value.Wanted
	}
	return hint.New(fmt.Errorf("%s: %s: want %s", g.From, g.Name, wanted), correctLine)
}

// unknown is the reason about an unknown name, which may be nearly that of an option.
func unknown(l allow.List, name string) record.Said {
	if n := hint.Nearest(name, l.Names); n != "" && n != name && len(name) > 8 {
		return perhaps(n)
	}
	return notPassedOn
}

// Fit scales the sizes in a down so that together they are at most bytes, and lists the changes. The
// defaults of the server count too.
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
		a.resize(d, name, sizes[name], fmt.Sprintf("%dM", fitted), total, bytes)
	}
}

// leastCache is the size in MiB below which no cache is scaled: 16 MiB.
const leastCache = 16

// resize gives a setting or an option another size.
func (a *Adopted) resize(d db.Description, name string, was int64, size string, total, share int64) {
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
	a.Changes = append(a.Changes, Change{Name: name, Value: value, Used: size, Why: tooLarge(total/db.MiB, share/db.MiB)})
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
