package mysql

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tarelab/tare/internal/base/allow"
	"github.com/tarelab/tare/internal/databases/db"
)

// conf reads option files as the server does: groups, !include and !includedir.
func (m Service) conf() db.Conf {
	return db.Conf{
		Names: []string{"*.cnf", "my.ini"},
		Read: func(path string, v db.Version) ([]db.Given, error) {
			r := optionFile{groups: groups(m.Flavour, v)}
			err := r.read(path, 0)
			return r.given, err
		},
		Value:     confValue,
		Omit:      omitted,
		Sizing:    map[string]string{"innodb_dedicated_server": "buffer pool, redo log and flush method by the memory of the host"},
		Memory:    []string{setBufferPool, "key_buffer_size", "aria_pagecache_buffer_size", "innodb_log_buffer_size", "query_cache_size"},
		Variables: variables,
	}
}

// omitted are options that --like leaves out, with the reason.
var omitted = map[string]string{
	"wait_timeout": db.Pauses, "interactive_timeout": db.Pauses, "connect_timeout": db.Pauses, "max_statement_time": db.Pauses,
	"max_execution_time": db.Pauses, "innodb_kill_idle_transaction": db.Pauses, "thread_pool_idle_timeout": db.Pauses,
	"max_connect_errors": db.LoadConnects, "max_user_connections": db.LoadConnects, "innodb_fast_shutdown": db.Copies,
}

// groups are the groups of an option file that the server reads.
func groups(flavour string, v db.Version) []string {
	names := []string{"mysqld", "server"}
	if flavour == MariaDB {
		names = append(names, "mariadb", "mariadbd", "client-server", "galera")
	}
	if v.Text == "" {
		return names
	}
	number := fmt.Sprintf("-%d.%d", v.Number[0], v.Number[1])
	for _, n := range []string{"mysqld", "mariadb", "mariadbd"} {
		if slices.Contains(names, n) {
			names = append(names, n+number)
		}
	}
	return names
}

// optionFile collects the settings of a file and of those that it includes.
type optionFile struct {
	groups []string
	given  []db.Given
}

func (o *optionFile) read(path string, depth int) error {
	group := "" // of the line
	return db.EachLine(path, depth, func(n int, line string) error {
		return o.line(path, n, strings.TrimSpace(line), &group, depth)
	})
}

// Errors of lines. None quotes the line, which may have a password.
var (
	errInclude = errors.New("want !include FILE or !includedir DIR")
	errNoGroup = errors.New("an option before the first [group]")
	errSyntax  = errors.New("neither an option (name or name=value), nor a [group], nor a comment")
)

// line reads one line; group is changed by a line [group].
func (o *optionFile) line(path string, n int, line string, group *string, depth int) error {
	switch {
	case line == "", line[0] == '#', line[0] == ';':
		return nil
	case line[0] == '!':
		return o.include(path, line, depth)
	case line[0] == '[':
		name, rest, closed := strings.Cut(line[1:], "]")
		if rest = strings.TrimSpace(rest); !closed || rest != "" && rest[0] != '#' {
			return errSyntax
		}
		*group = strings.TrimSpace(name)
		return nil
	case *group == "":
		return errNoGroup
	}
	name, value, valued := strings.Cut(line, "=")
	name, _, _ = strings.Cut(name, "#")
	if !slices.Contains(o.groups, strings.ToLower(*group)) {
		return nil // another program's, which knows how it is written
	}
	if name = strings.TrimSpace(name); !db.IsName(name) {
		return errSyntax
	}
	value, err := unquoted(value)
	if err != nil {
		return err
	}
	o.given = append(o.given, normal(db.Given{Name: name, Value: value, Valued: valued, From: db.Place(path, n)}))
	return nil
}

// include reads !include FILE and !includedir DIR.
func (o *optionFile) include(path, line string, depth int) error {
	word, name, _ := strings.Cut(line, " ")
	name = strings.TrimSpace(name)
	switch {
	case name == "" || word != "!include" && word != "!includedir":
		return errInclude
	case word == "!include":
		return o.read(db.Beside(path, name), depth+1)
	}
	files, err := db.Included(db.Beside(path, name), "*.cnf")
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := o.read(filepath.Clean(f), depth+1); err != nil {
			return err
		}
	}
	return nil
}

// unquoted is a value without quotes and without a comment behind it.
func unquoted(value string) (string, error) {
	value = strings.TrimSpace(value)
	if value != "" && (value[0] == '\'' || value[0] == '"') {
		inner, rest, closed := strings.Cut(value[1:], value[:1])
		if rest = strings.TrimSpace(rest); !closed || rest != "" && rest[0] != '#' {
			return "", db.ErrQuote
		}
		return inner, nil
	}
	value, _, _ = strings.Cut(value, "#")
	return strings.TrimSpace(value), nil
}

// normal resolves the prefixes disable-, skip- and enable-.
func normal(g db.Given) db.Given {
	name := allow.Canonical(g.Name)
	g.Name = name
	if allowed.Has(name) || allowed.Ours[name] != "" || g.Valued {
		return g
	}
	for prefix, value := range map[string]string{"disable_": "OFF", "skip_": "OFF", "enable_": "ON"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok && (allowed.Has(rest) || allowed.Ours[rest] != "") {
			g.Name, g.Value, g.Valued = rest, value, true
		}
	}
	return g
}

// confValue is the value of a setting of tare's from an option of the server.
func confValue(setting string, g db.Given, all map[string]db.Given) (string, error) {
	switch setting {
	case setBinlog:
		return binlogWord(g), nil
	case setDoublewrite, setPerfSchema:
		return onOff(g)
	case setFlushMethod:
		return flushMethodOf(g, all)
	case setRedoLog:
		return redoValue(all)
	}
	if g.Value == "" {
		return "", db.Want("", "a value")
	}
	return strings.ToUpper(g.Value), nil
}

// redoValue is the size of all files of the redo log. The capacity counts where it is set, or where nobody has set size
// or number of files.
func redoValue(all map[string]db.Given) (string, error) {
	capacity, size, files := all[logCapacity], all[logFileSize], all[logFiles]
	byFiles := size.Value != "" && !size.Own || files.Value != "" && !files.Own
	if capacity.Value != "" && capacity.Value != "0" && (!capacity.Own || !byFiles) {
		return strings.ToUpper(capacity.Value), nil
	}
	if size.Value == "" {
		return "", nil
	}
	n, err := db.Size(strings.ToUpper(size.Value))
	if err != nil || files.Value == "" || files.Value == "1" {
		return strings.ToUpper(size.Value), err
	}
	count, err := strconv.ParseInt(files.Value, 10, 32)
	if err != nil || count < 1 {
		return "", db.Want(files.Value, "a number of files")
	}
	return strconv.FormatInt(n*count, 10), nil
}

// binlogWord is the value of binlog. The value of log_bin is a file name.
func binlogWord(g db.Given) string {
	off := slices.Contains([]string{"0", "off", "false"}, strings.ToLower(g.Value))
	if g.Name == "skip_log_bin" {
		off = !off
	}
	if off {
		return "off"
	}
	return "on"
}

// onOff is a switch in tare's words. Words of newer versions, such as DETECT_ONLY, are passed on: the program knows them.
func onOff(g db.Given) (string, error) {
	switch word := strings.ToLower(g.Value); {
	case word == "1", word == "on", word == "true", word == "detect_and_recover", word == "" && !g.Valued:
		return "on", nil
	case word == "0", word == "off", word == "false":
		return "off", nil
	case db.IsWord(word):
		return word, nil
	}
	return "", db.Want(g.Value, "ON or OFF")
}

// flushMethodOf is the method, left to a server whose switches for files are set instead.
func flushMethodOf(g db.Given, all map[string]db.Given) (string, error) {
	for _, name := range fileSwitches {
		switch switched := all[name]; {
		case switched.Name == "" || switched.Own:
		case g.Own:
			return db.Leave, nil
		case name != "innodb_log_file_buffering": // which older versions have beside the method
			return "", fmt.Errorf("it overrides %s of %s: leave one of them out", name, switched.From)
		}
	}
	return flushMethod(g.Value), nil
}

// flushMethod spells a method as the setting has it. MySQL 5.x had fdatasync for fsync.
func flushMethod(value string) string {
	if strings.EqualFold(value, "fdatasync") {
		return "fsync"
	}
	for _, w := range (Service{}).settings() {
		if w.Name != setFlushMethod {
			continue
		}
		for _, known := range w.Words {
			if strings.EqualFold(known, value) {
				return known
			}
		}
	}
	return value
}

// Questions for the variables that are not at their defaults, and for those that are tare's in any case, for MariaDB and
// for MySQL from 8.0 on. The third column is the source.
const (
	mariadbVariables = "SELECT variable_name, global_value, global_value_origin FROM information_schema.system_variables" +
		" WHERE (global_value_origin NOT IN ('COMPILE-TIME', 'AUTO') OR variable_name IN (%s)) AND global_value IS NOT NULL"
	mysqlVariables = "SELECT v.variable_name, v.variable_value, i.variable_source FROM performance_schema.global_variables v" +
		" JOIN performance_schema.variables_info i USING (variable_name) WHERE i.variable_source <> 'COMPILED' OR v.variable_name IN (%s)"
)

// variables asks a running server for its variables; SHOW GLOBAL VARIABLES has all, defaults too.
func variables(ask func(string) ([][]string, error)) (given []db.Given, err error) {
	tares := "'" + strings.Join(own().Names, "', '") + "'"
	var rows [][]string
	for _, q := range []string{fmt.Sprintf(mariadbVariables, tares), fmt.Sprintf(mysqlVariables, tares), "SHOW GLOBAL VARIABLES"} {
		if rows, err = ask(q); err == nil && len(rows) > 0 {
			break
		}
	}
	for _, row := range rows {
		if len(row) < 2 {
			continue
		}
		g := db.Given{Name: allow.Canonical(row[0]), Value: row[1], Valued: true}
		g.Own = len(row) > 2 && (strings.HasPrefix(row[2], "COMPILE") || row[2] == "AUTO")
		given = append(given, g)
	}
	return given, err
}
