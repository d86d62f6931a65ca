package mysql

import (
	"regexp"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/base/allow"
	"github.com/tarelab/tare/internal/databases/db"
)

// own asks the program with --verbose --help, which prints the variables after it has read the options, and starts
// no server.
func own() db.Own {
	return db.Own{
		Names: []string{
			"innodb_buffer_pool_size", logFileSize, logFiles, logCapacity, "innodb_flush_method", "innodb_flush_log_at_trx_commit",
			"log_bin", "sync_binlog", "innodb_doublewrite", "performance_schema",
		},
		Calls: func(v db.Version, c db.Config, settings bool) ([][]string, error) {
			args := base(v, c)
			if settings {
				more, err := options(v, c)
				if err != nil {
					return nil, err
				}
				args = append(append(args, more...), c.Options...)
			}
			return [][]string{append(args, "--verbose", "--help")}, nil
		},
		Read: func(outputs []string) map[string]string {
			all := map[string]string{}
			for _, out := range outputs {
				variablesOfHelp(out, all)
			}
			return all
		},
		Complaints: complaints,
	}
}

// Names of the variables of the redo log.
const (
	logFileSize = "innodb_log_file_size"
	logFiles    = "innodb_log_files_in_group"
	logCapacity = "innodb_redo_log_capacity"
)

// variablesOfHelp reads the table at the end of --verbose --help: a line for each variable with its value, below a
// line of dashes.
func variablesOfHelp(out string, all map[string]string) {
	table := false
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(line, "------") {
			table = true
			continue
		}
		name, value, _ := strings.Cut(line, " ")
		switch {
		case !table:
		case name == "":
			table = false
		default:
			value = strings.TrimSpace(value)
			if value == noDefault {
				value = ""
			}
			all[allow.Canonical(name)] = value
		}
	}
	if method, has := all["innodb_flush_method"]; has && method == "" {
		all["innodb_flush_method"] = "fsync" // of MySQL 5.7 and MariaDB 10.4, where it is a string
	}
	if name, has := all["log_bin"]; has { // the value is the name of its files
		all["log_bin"] = map[bool]string{true: "ON", false: "OFF"}[name != ""]
	}
}

// noDefault is the value of a string that is not set.
const noDefault = "(No default value)"

// errorLine matches an error in the log: what stands before its text, with the path of the program.
var errorLine = regexp.MustCompile(`^\S+ .*\[(?:ERROR|Warning)\] (?:\[MY-\d+\] \[\w+\] )?(?:\S*(?:mysqld|mariadbd): )?(.*)$`)

// invalidWord matches the warning about a word for a switch, which the server then takes for OFF, or ignores.
var invalidWord = regexp.MustCompile(`boolean value .* (?:wasn't|was not) recognized|ignoring option .* due to invalid value`)

// complaints are the errors about options: not those about directories that a help does not need, and not the ones
// that follow. MySQL 8 prints no warnings, says nothing about an unknown option, and does not list it.
func complaints(v db.Version, c db.Config, stdout, stderr string) (all []string) {
	for line := range strings.Lines(stderr) {
		found := errorLine.FindStringSubmatch(strings.TrimSpace(line))
		if found == nil || strings.Contains(line, "[Warning]") && !invalidWord.MatchString(line) {
			continue
		}
		text := strings.TrimSuffix(strings.TrimPrefix(found[1], "Buffered warning: "), ".")
		switch {
		case strings.Contains(text, "error-message file"), strings.HasPrefix(text, "Parsing options for plugin"), text == "Aborting",
			strings.Contains(text, "run mysqld as root"):
		default:
			all = append(all, text)
		}
	}
	listed := map[string]string{}
	variablesOfHelp(stdout, listed)
	if len(all) > 0 || len(listed) == 0 {
		return all
	}
	if word, has := c.Settings[setDoublewrite], listed["innodb_doublewrite"]; word != "" && word != "on" && word != "off" && !strings.EqualFold(word, has) {
		all = append(all, "innodb_doublewrite="+strings.ToUpper(word)+" is none of its words")
	}
	if method := c.Settings[setFlushMethod]; v.Flavour != MariaDB && !v.AtLeast(8) && method != "" && !slices.Contains(flushMethods(), method) {
		all = append(all, "innodb_flush_method="+method+" is none of its words") // 5.7 looks at it when it starts
	}
	if v.Flavour == MariaDB { // which ignores options that it had once
		return all
	}
	for _, o := range c.Options {
		name, _, _ := strings.Cut(strings.TrimPrefix(o, "--"), "=")
		if _, has := listed[allow.Canonical(name)]; !has {
			all = append(all, "unknown variable '"+name+"'")
		}
	}
	return all
}
