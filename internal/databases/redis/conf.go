package redis

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/base/allow"
	"github.com/tarelab/tare/internal/databases/db"
)

// conf reads redis.conf and valkey.conf as the server does, with include.
func conf() db.Conf {
	return db.Conf{
		Names: []string{"redis*.conf", "valkey*.conf"},
		Read: func(path string, _ db.Version) ([]db.Given, error) {
			var f confFile
			err := f.read(path, 0)
			return f.given, err
		},
		Value:     confValue,
		Omit:      map[string]string{"disable_thp": db.Unlike, "latency_tracking": db.Unlike},
		Memory:    []string{"maxmemory"},
		Variables: variables,
	}
}

// confFile collects the settings of a file and of those that it includes.
type confFile struct{ given []db.Given }

// errSyntax does not quote the line, which may have a password.
var errSyntax = errors.New("want a directive and its value")

func (f *confFile) read(path string, depth int) error {
	return db.EachLine(path, depth, func(n int, line string) error {
		words, err := words(strings.TrimSpace(line))
		switch {
		case err != nil || len(words) == 0:
			return err
		case words[0] == "include":
			return f.include(path, words[1:], depth)
		case len(words) == 1 || !db.IsName(words[0]):
			return errSyntax
		}
		f.add(db.Given{Name: allow.Canonical(words[0]), Value: strings.Join(words[1:], " "), Valued: true, From: db.Place(path, n)})
		return nil
	})
}

// add adds a setting. Several lines save add up.
func (f *confFile) add(g db.Given) {
	i := slices.IndexFunc(f.given, func(x db.Given) bool { return x.Name == setSave })
	if g.Name == setSave && g.Value != "" && i >= 0 && f.given[i].Value != "" {
		g.Value = f.given[i].Value + " " + g.Value
	}
	f.given = append(slices.DeleteFunc(f.given, func(x db.Given) bool { return x.Name == g.Name }), g)
}

func (f *confFile) include(path string, named []string, depth int) error {
	if len(named) != 1 {
		return errors.New("want include FILE")
	}
	files, err := filepath.Glob(db.Beside(path, named[0]))
	if err == nil && len(files) == 0 && !strings.ContainsAny(named[0], "*?[") {
		files = []string{db.Beside(path, named[0])}
	}
	for _, file := range files {
		if err := f.read(file, depth+1); err != nil {
			return err
		}
	}
	return err
}

// words splits a line at blanks; it knows quotes. A line that begins with # has none.
func words(line string) (all []string, err error) {
	if strings.HasPrefix(line, "#") {
		return nil, nil
	}
	word, begun, quote := "", false, rune(0)
	for _, r := range line + " " {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, begun = r, true
		case quote == 0 && (r == ' ' || r == '\t'):
			if begun {
				all = append(all, word)
			}
			word, begun = "", false
		default:
			word, begun = word+string(r), true
		}
	}
	if quote != 0 {
		return nil, db.ErrQuote
	}
	return all, nil
}

// confValue is the value of a setting of tare's.
func confValue(setting string, g db.Given, all map[string]db.Given) (string, error) {
	if setting == setAppendSync && strings.ToLower(all[setAppend].Value) != "yes" && strings.ToLower(g.Value) != everySecond {
		return "", nil // the server has no log to sync; the workload refuses the setting without one
	}
	if setting != setSave {
		return strings.ToLower(g.Value), nil
	}
	if g.Value == "" {
		return noSave, nil
	}
	return strings.Join(strings.Fields(g.Value), ","), nil
}

// variables asks a running server for each setting that tare could pass on: CONFIG GET does not say which
// are at their defaults.
func variables(ask func(string) ([][]string, error)) (given []db.Given, err error) {
	names := slices.Clone(allowed.Names)
	for name := range allowed.Ours {
		if allowed.Parameter(name) != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		rows, err := ask("CONFIG GET " + strings.ReplaceAll(name, "_", "-"))
		if err != nil {
			return nil, err
		}
		if len(rows) == 1 {
			given = append(given, db.Given{Name: name, Value: rows[0][0], Valued: true})
		}
	}
	return given, nil
}
