package postgres

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/tarelab/tare/internal/databases/db"
)

// conf reads postgresql.conf as the server does, with include, include_if_exists and include_dir.
func conf() db.Conf {
	return db.Conf{
		Names: []string{"postgresql*.conf", "postgres*.conf"},
		Read: func(path string, _ db.Version) ([]db.Given, error) {
			var f confFile
			err := f.read(path, 0)
			return f.given, err
		},
		Value:     confValue,
		Omit:      omitted,
		Memory:    []string{setBuffers, "wal_buffers"},
		Variables: variables,
	}
}

// omitted are settings that --like leaves out, with the reason.
var omitted = map[string]string{
	"checkpoint_timeout": db.Pauses, "client_connection_check_interval": db.Pauses,
	"huge_pages": db.Unlike, "huge_page_size": db.Unlike, "min_dynamic_shared_memory": db.Unlike,
	"default_transaction_read_only": "the load writes",
}

// confFile collects the settings of a file and of those that it includes.
type confFile struct{ given []db.Given }

func (f *confFile) read(path string, depth int) error {
	return db.EachLine(path, depth, func(n int, line string) error {
		name, value, err := setting(line)
		if err != nil || name == "" {
			return err
		}
		return f.add(path, db.Given{Name: name, Value: value, Valued: true, From: db.Place(path, n)}, depth)
	})
}

// add adds a setting, or reads the files that it includes.
func (f *confFile) add(path string, g db.Given, depth int) error {
	switch g.Name {
	case "include", "include_if_exists":
		err := f.read(db.Beside(path, g.Value), depth+1)
		if g.Name == "include_if_exists" && errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	case "include_dir":
		files, err := db.Included(db.Beside(path, g.Value), "*.conf")
		for _, file := range files {
			if err := f.read(file, depth+1); err != nil {
				return err
			}
		}
		return err
	}
	f.given = append(f.given, g)
	return nil
}

// errSyntax does not quote the line, which may have a password.
var errSyntax = errors.New("want name = value")

// setting reads a line: name = value, name value or name 'value'; "" for an empty line or a comment.
func setting(line string) (name, value string, err error) {
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' {
		return "", "", nil
	}
	end := strings.IndexFunc(line, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '.'
	})
	if end <= 0 || !strings.ContainsRune("= \t", rune(line[end])) {
		return "", "", errSyntax
	}
	name = strings.ToLower(line[:end])
	rest := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line[end:]), "="))
	if !strings.HasPrefix(rest, "'") {
		value, _, _ := strings.Cut(rest, "#")
		if value = strings.TrimSpace(value); value == "" || strings.ContainsAny(value, " \t") {
			return "", "", errSyntax
		}
		return name, value, nil
	}
	value, rest, closed := quoted(rest[1:])
	if rest = strings.TrimSpace(rest); !closed || rest != "" && rest[0] != '#' {
		return "", "", db.ErrQuote
	}
	return name, value, nil
}

// quoted reads a value up to its closing quote; two quotes, or a backslash and a quote, are one in the value.
func quoted(text string) (value, rest string, closed bool) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\'' && i+1 < len(text) && text[i+1] == '\'', text[i] == '\\' && i+1 < len(text):
			i++
			b.WriteByte(text[i])
		case text[i] == '\'':
			return b.String(), text[i+1:], true
		default:
			b.WriteByte(text[i])
		}
	}
	return b.String(), "", false
}

// confValue is the value of a setting of tare's. Sizes without a unit count in the server's own units.
func confValue(name string, g db.Given, _ map[string]db.Given) (string, error) {
	switch name {
	case setBuffers:
		return size(g.Value, 8<<10)
	case setMaxWAL:
		return size(g.Value, db.MiB)
	case setFsync, setFullPages, setAutovacuum:
		return onOff(g.Value)
	case setSyncCommit:
		if word, err := onOff(g.Value); err == nil {
			return word, nil
		}
	}
	return strings.ToLower(g.Value), nil
}

// size is a size of the server's in tare's words: 128MB is 128M. A number alone counts in unit bytes.
func size(value string, unit int64) (string, error) {
	for suffix, short := range map[string]string{"TB": "T", "GB": "G", "MB": "M", "kB": "K"} {
		if number, ok := strings.CutSuffix(value, suffix); ok {
			return strings.TrimSpace(number) + short, nil
		}
	}
	number, bytes := strings.CutSuffix(value, "B")
	n, err := db.Size(strings.TrimSpace(number))
	if err != nil {
		return "", db.Want(value, "a size like 128MB")
	}
	if bytes {
		unit = 1
	}
	return fmt.Sprint(n * unit), nil
}

// onOff reads a switch as the server does: a word or the beginning of one.
func onOff(value string) (string, error) {
	v := strings.ToLower(value)
	switch {
	case v == "on" || v == "1" || v != "" && (strings.HasPrefix("true", v) || strings.HasPrefix("yes", v)):
		return "on", nil
	case len(v) > 1 && strings.HasPrefix("off", v) || v == "0" || v != "" && (strings.HasPrefix("false", v) || strings.HasPrefix("no", v)):
		return "off", nil
	}
	return "", db.Want(value, "on or off")
}

// variables asks a running server for the settings that have other values than the built-in ones, and for those that
// are tare's in any case.
func variables(ask func(string) ([][]string, error)) (given []db.Given, err error) {
	rows, err := ask("SELECT name, current_setting(name), source FROM pg_settings" +
		" WHERE source NOT IN ('default', 'override', 'client', 'session') OR name IN ('" + strings.Join(ownNames(), "', '") + "')")
	for _, row := range rows {
		if len(row) == 3 {
			given = append(given, db.Given{Name: strings.ToLower(row[0]), Value: row[1], Valued: true, Own: row[2] == "default"})
		}
	}
	return given, err
}
