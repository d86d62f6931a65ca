package sqlfile

import (
	"errors"
	"regexp"
	"strings"

	"github.com/tarelab/tare/internal/base/hint"
)

// rule is a kind of statement that may not run, with the reason and the remedy.
type rule struct {
	match       *regexp.Regexp // of Statement.plain
	why, remedy string
}

// restricts matches the lines with which pg_dump makes psql refuse its own commands.
var restricts = regexp.MustCompile(`^\\(un)?restrict( |$)`)

// several matches two statements under another delimiter. Bodies of routines and MariaDB's compound
// statements have semicolons.
var several = regexp.MustCompile(`^[^;]*; ?[^; ]`)

// compound matches statements with a body.
var compound = regexp.MustCompile(`^(CREATE|ALTER|BEGIN NOT ATOMIC)\b`)

// copyRows matches COPY with its rows in the file.
var copyRows = regexp.MustCompile(`^COPY( [^(" ]| ?"[^"]*")([^"]|"[^"]*")*? FROM STDIN\b`)

// both are the rules for all servers.
var both = []rule{
	{regexp.MustCompile(`^(CREATE|ALTER|DROP|RENAME) (USER|ROLE|GROUP)\b|^(GRANT|REVOKE)\b|^SET (ROLE|SESSION AUTHORIZATION|PASSWORD)\b`), changesUsers, noPrivileges},
	{regexp.MustCompile(`^SET (GLOBAL|PERSIST|PERSIST_ONLY)\b|^SET ?(.*, ?)?@@(GLOBAL|PERSIST|PERSIST_ONLY)\.|^ALTER SYSTEM\b`), setsServer, noGlobals},
	{regexp.MustCompile(`^(CREATE|ALTER|DROP) (OR REPLACE )?(DATABASE|SCHEMA)\b`), makesDatabase, oneDatabase},
	{regexp.MustCompile(`^(SHUTDOWN|KILL)\b`), endsServer, removeIt},
}

// rules are the rules of a family of servers.
var rules = map[Dialect][]rule{
	MySQL: {
		{regexp.MustCompile(`^(SOURCE|SYSTEM|TEE|NOTEE|PAGER|NOPAGER|EDIT|CONNECT|WARNINGS|REHASH)\b`), startsPrograms, removeIt},
		{regexp.MustCompile(`^USE\b`), makesDatabase, oneDatabase},
		{regexp.MustCompile(`\bLOAD (DATA|XML)\b|\bINTO (OUTFILE|DUMPFILE)\b|\bLOAD_FILE ?\(`), readsFiles, asInserts},
		{regexp.MustCompile(`^(INSTALL|UNINSTALL)\b|\bSONAME\b|^CREATE (OR REPLACE )?SERVER\b|\bENGINE ?= ?(CONNECT|FEDERATED|FEDERATEDX|SPIDER|S3)\b|\b(DATA|INDEX) DIRECTORY ?=|^CREATE (OR REPLACE )?(UNDO )?TABLESPACE\b`), loadsCode, removeIt},
		{regexp.MustCompile(`^(CHANGE (MASTER|REPLICATION)|START (SLAVE|REPLICA)|RESET|PURGE|FLUSH|CLONE|BINLOG)\b`), setsServer, removeIt},
	},
	Postgres: {
		{regexp.MustCompile(`\b"?(LO_IMPORT|LO_EXPORT|PG_READ_FILE|PG_READ_BINARY_FILE|PG_LS_DIR|PG_FILE_WRITE|DBLINK\w*)"? ?\(`), readsFiles, removeIt},
		{regexp.MustCompile(`^(CREATE|ALTER|DROP) (EXTENSION|SERVER|FOREIGN|LANGUAGE|TRUSTED|PROCEDURAL|TABLESPACE|SUBSCRIPTION|EVENT TRIGGER)\b|^LOAD\b|^CREATE (OR REPLACE )?(PROCEDURAL )?LANGUAGE\b`), loadsCode, noExtensions},
		{regexp.MustCompile(`^CREATE (OR REPLACE )?(FUNCTION|PROCEDURE) .*\bLANGUAGE "?(C|INTERNAL|\w+U)\b`), loadsCode, noExtensions},
		{regexp.MustCompile(`^DO\b.*\bLANGUAGE "?\w+U\b`), loadsCode, removeIt},
	},
}

// copies matches COPY, which has files or programs unless its rows are in the file.
var copies = regexp.MustCompile(`^COPY\b`)

// schemas matches schemas of PostgreSQL, which are in the database.
var schemas = regexp.MustCompile(`^(CREATE|ALTER|DROP) SCHEMA\b`)

// refusal returns why a statement may not run, or nil.
func refusal(plain string, d Dialect) error {
	if d == Postgres && schemas.MatchString(plain) {
		return nil
	}
	if d == Postgres && copies.MatchString(plain) && !copyRows.MatchString(plain) {
		return hint.New(errors.New(readsFiles+": "+plain[:min(len(plain), 60)]), asInserts)
	}
	for _, list := range [][]rule{both, rules[d]} {
		for _, r := range list {
			if r.match.MatchString(plain) {
				return hint.New(errors.New(r.why+": "+plain[:min(len(plain), 60)]), r.remedy)
			}
		}
	}
	return nil
}

// quoteModes matches settings of a connection that change where a string ends.
var quoteModes = map[Dialect]*regexp.Regexp{
	MySQL:    regexp.MustCompile(`(?i)NO_BACKSLASH_ESCAPES`),
	Postgres: regexp.MustCompile(`(?i)\bstandard_conforming_strings\b\W*(to\b)?\W*(off|false|no?|f|0|default)\b`),
}

// otherQuotes returns an error about a statement behind which the check would not see what the server sees.
func otherQuotes(s Statement, d Dialect) error {
	if (strings.HasPrefix(s.plain, "SET") || strings.HasPrefix(s.plain, "SELECT")) && quoteModes[d].MatchString(s.Text) {
		return hint.New(errors.New(changesQuotes), removeIt)
	}
	return nil
}

// clientCommand is the error about a command of psql or of MySQL's client.
func clientCommand(line string) error {
	return hint.New(errors.New(startsPrograms+": "+line[:min(len(line), 60)]), removeIt)
}

// owners matches statements about who owns what. Everything belongs to the load's user.
var owners = regexp.MustCompile(`^ALTER [^;]* OWNER TO ("[^"]*"|\S+)$|^ALTER DEFAULT PRIVILEGES\b|^COMMENT ON (EXTENSION|SCHEMA|DATABASE)\b|^SET TRANSACTION_TIMEOUT\b|^SECURITY LABEL\b`)

// binlogs matches statements about the binary log, which is off while a dump is loaded.
var binlogs = regexp.MustCompile(`^SET @(@SESSION\.SQL_LOG_BIN|MYSQLDUMP_TEMP_LOG_BIN) ?=`)

// definer matches the account in whose name a view, a trigger or a routine runs.
var definer = regexp.MustCompile("(?i)\\bDEFINER\\s*=\\s*(`[^`]*`|'[^']*'|\\w+)\\s*@\\s*(`[^`]*`|'[^']*'|[\\w%.]+)")

// adapted changes what only the server of the dump could have: owners, and definers of MySQL, of which the
// load's user takes the place.
func (r *Reader) adapted(s Statement) Statement {
	switch {
	case r.dialect == MySQL && binlogs.MatchString(s.plain), r.dialect == Postgres && owners.MatchString(s.plain):
		s.Text = ""
	case r.dialect == MySQL && (strings.HasPrefix(s.plain, "CREATE ") || strings.HasPrefix(s.plain, "ALTER ")):
		if at := definer.FindStringIndex(s.Text); at != nil {
			before := s.Text[:at[0]]
			if !strings.ContainsRune(blanks, rune(before[len(before)-1])) {
				before += " " // the words around it stay two
			}
			s.Text = strings.TrimRight(before+s.Text[at[1]:], blanks)
		}
	}
	return s
}
