package sqlfile

import (
	"errors"
	"regexp"
	"strings"

	"github.com/tarelab/tare/internal/base/hint"
)

// rule is a kind of statement that cannot run here, with the reason and the remedy. A rule is no protection: the
// load's user has no rights elsewhere, and the server can write nothing but its data set.
type rule struct {
	match       *regexp.Regexp // of Statement.plain
	why, remedy string
}

// restricts matches the lines with which pg_dump makes psql refuse its own commands.
var restricts = regexp.MustCompile(`^\\(un)?restrict( |$)`)

// copyRows matches COPY with its rows in the file.
var copyRows = regexp.MustCompile(`^COPY( [^(" ]| ?"[^"]*")([^"]|"[^"]*")*? FROM STDIN\b`)

// rules are statements of dumps that name what a data set does not have: other accounts and databases, and the
// binary log. The server would refuse them in the middle of the load.
var rules = map[Dialect][]rule{
	MySQL: {
		{regexp.MustCompile(`^(SOURCE|SYSTEM|TEE|NOTEE|PAGER|NOPAGER|EDIT)\b`), ofClient, removeIt},
		{accounts, namesAccount, noPrivileges},
		{regexp.MustCompile(`^SET ?@@GLOBAL\.GTID_PURGED\b`), setsGTID, noGTID},
		{regexp.MustCompile(`^(CREATE|ALTER|DROP) (OR REPLACE )?(DATABASE|SCHEMA)\b|^USE\b`), makesDatabase, oneDatabase},
	},
	Postgres: {
		{accounts, namesAccount, noPrivileges},
		{regexp.MustCompile(`^(CREATE|DROP) DATABASE\b`), makesDatabase, oneDatabase},
	},
}

var accounts = regexp.MustCompile(`^(CREATE|ALTER|DROP|RENAME) (USER|ROLE|GROUP)\b|^(GRANT|REVOKE)\b|^SET (ROLE|SESSION AUTHORIZATION)\b`)

// refusal returns why a statement cannot run, or nil.
func refusal(plain string, d Dialect) error {
	for _, r := range rules[d] {
		if r.match.MatchString(plain) {
			return hint.New(errors.New(r.why+": "+plain[:min(len(plain), 60)]), r.remedy)
		}
	}
	return nil
}

// quoteModes matches settings of a connection that change where a string ends.
var quoteModes = map[Dialect]*regexp.Regexp{
	MySQL:    regexp.MustCompile(`(?i)NO_BACKSLASH_ESCAPES`),
	Postgres: regexp.MustCompile(`(?i)\bstandard_conforming_strings\b\W*(to\b)?\W*(off|false|no?|f|0|default)\b`),
}

// otherQuotes returns an error about a statement behind which this package and the server would not find the
// same statements.
func otherQuotes(s Statement, d Dialect) error {
	if (strings.HasPrefix(s.plain, "SET") || strings.HasPrefix(s.plain, "SELECT")) && quoteModes[d].MatchString(s.Text) {
		return hint.New(errors.New(changesQuotes), removeIt)
	}
	return nil
}

// clientCommand is the error about a command of psql or of MySQL's client.
func clientCommand(line string) error {
	return hint.New(errors.New(ofClient+": "+line[:min(len(line), 60)]), removeIt)
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
		s.skip = true
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
