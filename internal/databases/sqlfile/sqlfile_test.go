package sqlfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/hint"
)

// all are the statements of a text, "LINE: TEXT", and the rows of COPY.
func all(text string, d Dialect) (out []string, err error) {
	r := NewReader(strings.NewReader(text), d)
	for {
		s, err := r.Next()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		if s.Text != "" {
			out = append(out, s.Text)
		}
		for more := s.Rows; more; {
			var row string
			if row, more, err = r.Row(); err != nil {
				return out, err
			}
			if more {
				out = append(out, "row "+row)
			}
		}
	}
}

func TestSplit(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		d    Dialect
		want []string
	}{
		"comments": {"-- a;\n# b;\n/* c; */ SELECT 1; -- d;\nSELECT/* e; */2 -- f\n;", MySQL, []string{"SELECT 1", "SELECT/* e; */2 -- f"}},
		"quotes":   {"SELECT ';''\\';', \";\", `;`; SELECT 2", MySQL, []string{"SELECT ';''\\';', \";\", `;`", "SELECT 2"}},
		"executable": {"/*M!999999\\- enable the sandbox mode */ \n/*!40101 SET NAMES utf8 */;\n/*!50003 CREATE*/ /*!50017 DEFINER=`root`@`localhost`*/ /*!50003 TRIGGER x */;", MySQL,
			[]string{"/*!40101 SET NAMES utf8 */", "/*!50003 CREATE*/ /*!50017 */ /*!50003 TRIGGER x */"}},
		"delimiter": {"DELIMITER ;;\nCREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2; END;;\ndelimiter ;\nDELETE FROM t;", MySQL,
			[]string{"CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2; END", "DELETE FROM t"}},
		"null":    {`SELECT \N;`, MySQL, []string{`SELECT \N`}},
		"no end":  {"SELECT 1;\nSELECT 2", Postgres, []string{"SELECT 1", "SELECT 2"}},
		"dollars": {"DO $x$ BEGIN; $$;$$ END; $x$; SELECT $1, a$b;", Postgres, []string{"DO $x$ BEGIN; $$;$$ END; $x$", "SELECT $1, a$b"}},
		"nested":  {"/* a /* b; */ c; */ SELECT 1;", Postgres, []string{"SELECT 1"}},
		"escapes": {`SELECT '\', E'\';', "a;""b";`, Postgres, []string{`SELECT '\', E'\';', "a;""b"`}},
		"atomic":  {"CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT CASE WHEN true THEN 1 END; SELECT 2; END;\nSELECT 3;", Postgres, []string{"CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT CASE WHEN true THEN 1 END; SELECT 2; END", "SELECT 3"}},
		"rows":    {"\\restrict abc\nCOPY public.t (a, b) FROM stdin;\n1;\t'\n\\N\t\\.x\n\\.\nSELECT 1;\n\\unrestrict abc\n", Postgres, []string{"COPY public.t (a, b) FROM stdin", "row 1;\t'", "row \\N\t\\.x", "SELECT 1"}},
		"owners":  {"ALTER TABLE public.t OWNER TO postgres;\nSET transaction_timeout = 0;\nCOMMENT ON EXTENSION plpgsql IS 'x';\nSELECT 1;", Postgres, []string{"SELECT 1"}},
		"binlog":  {"SET @MYSQLDUMP_TEMP_LOG_BIN = @@SESSION.SQL_LOG_BIN;\nSET @@SESSION.SQL_LOG_BIN= 0;\nSET @OLD_SQL_NOTES=@@SQL_NOTES, SQL_NOTES=0;", MySQL, []string{"SET @OLD_SQL_NOTES=@@SQL_NOTES, SQL_NOTES=0"}},
	} {
		if got, err := all(c.text, c.d); !slices.Equal(got, c.want) || err != nil {
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
		}
	}
}

// Each of these is refused, at its line, with a remedy; the same words in strings, comments and names are not.
func TestRefused(t *testing.T) {
	const fine = "SELECT 'x', 'COPY t FROM PROGRAM', \"LOAD DATA\" /* GRANT ALL */;\n"
	for _, c := range []struct {
		d    Dialect
		text string
	}{
		{MySQL, `\! id`}, {MySQL, `SELECT 1 \! id`}, {MySQL, `\. other.sql`}, {MySQL, "system id"}, {MySQL, "source other.sql"},
		{MySQL, "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE t"}, {MySQL, "load/* x */data infile 'x' into table t"},
		{MySQL, "/*!50000 LOAD DATA INFILE 'x' INTO TABLE t */"}, {MySQL, "SELECT 1 INTO OUTFILE '/tmp/x'"}, {MySQL, "SELECT a FROM t INTO\nDUMPFILE 'x'"},
		{MySQL, "SELECT LOAD_FILE('/etc/passwd')"}, {MySQL, "CREATE USER x"}, {MySQL, "GRANT ALL ON *.* TO x"}, {MySQL, "SET GLOBAL max_connections = 1"},
		{MySQL, "SET @@GLOBAL.GTID_PURGED='x'"}, {MySQL, "SET sql_mode = '', @@global.x = 1"}, {MySQL, "CREATE DATABASE `shop`"}, {MySQL, "USE shop"},
		{MySQL, "CREATE FUNCTION f RETURNS STRING SONAME 'x.so'"}, {MySQL, "INSTALL PLUGIN x SONAME 'y'"}, {MySQL, "CREATE TABLE t (a int) ENGINE=CONNECT"},
		{MySQL, "CREATE TABLE t (a int) DATA DIRECTORY = '/tmp'"}, {MySQL, "SHUTDOWN"}, {MySQL, "CHANGE MASTER TO MASTER_HOST='x'"},
		{MySQL, "/*!50000LOAD DATA INFILE 'x' INTO TABLE t */"}, {MySQL, "/*!LOAD*/ /*!50003DATA*/ infile 'x' into table t"}, {MySQL, "lOaD\n/* x */\ndAtA infile 'x' into table t"},
		{MySQL, "SELECT 1.INTO OUTFILE '/tmp/x'"}, {MySQL, "SELECT .5INTO OUTFILE 'x'"}, {MySQL, "SELECT 1e5INTO DUMPFILE 'x'"}, {MySQL, "SELECT LOAD_FILE/**/('x')"},
		{MySQL, "SELECT 1 /*!999999 ' */ INTO OUTFILE '/tmp/x' -- '"}, {MySQL, "/*!50003 SELECT 1 -- */ INTO OUTFILE 'x'\n*/"}, {MySQL, "SELECT 1 --\x01 '\nINTO OUTFILE 'x' -- '"},
		{MySQL, "SET sql_mode = 'NO_BACKSLASH_ESCAPES'"}, {MySQL, "/*!50003 SET sql_mode = 'ANSI,No_Backslash_Escapes' */"}, {MySQL, "SELECT '\x00'"},
		{MySQL, "SYSTEM id"}, {MySQL, "SoUrCe other.sql"}, {MySQL, "Load Xml infile 'x' into table t"},
		{Postgres, "SET standard_conforming_strings TO 'off'"}, {Postgres, "SELECT set_config('standard_conforming_strings', 'off', false)"},
		{MySQL, "SET@@GLOBAL.x = 1"}, {MySQL, "SET@@sql_mode = 'NO_BACKSLASH_ESCAPES'"},
		{Postgres, "COPY t FROM'/etc/passwd'"}, {Postgres, "COPY t FROM E'/etc/passwd'"}, {Postgres, "COPY t FROM $$/etc/passwd$$"}, {Postgres, `COPY "x from stdin" FROM 'y'`},
		{Postgres, "COPY (SELECT 1 FROM stdin) TO 'x'"}, {Postgres, "COPY(SELECT 1 FROM stdin) TO PROGRAM 'id'"}, {Postgres, "COPY t TO stdout"}, {Postgres, "COPY t FROM /* stdin */ 'x'"},
		{Postgres, "copy t\nfrom\n  pRoGrAm 'id'"}, {Postgres, `\COPY t FROM 'x'`}, {Postgres, "SELECT 1; \\copy t from program 'id'"},
		{Postgres, `\! id`}, {Postgres, `\i other.sql`}, {Postgres, `\connect shop`}, {Postgres, `SELECT 1 \g |id`}, {Postgres, `\copy t from 'x'`},
		{Postgres, "COPY t FROM PROGRAM 'id'"}, {Postgres, "COPY t FROM '/etc/passwd'"}, {Postgres, "copy (select 1) to 'x'"}, {Postgres, "COPY t (a)\nTO PROGRAM 'id'"},
		{Postgres, "SELECT lo_import('/etc/passwd')"}, {Postgres, `SELECT pg_catalog."lo_import"('x')`}, {Postgres, "SELECT pg_read_file('x')"},
		{Postgres, "CREATE EXTENSION dblink"}, {Postgres, "CREATE FUNCTION f() RETURNS int LANGUAGE c AS 'x'"}, {Postgres, "CREATE OR REPLACE FUNCTION f() RETURNS int AS $$ x $$ LANGUAGE plpython3u"},
		{Postgres, "CREATE ROLE x"}, {Postgres, "ALTER USER postgres SUPERUSER"}, {Postgres, "GRANT ALL ON t TO x"}, {Postgres, "ALTER SYSTEM SET fsync = off"},
		{Postgres, "CREATE DATABASE shop"}, {Postgres, "LOAD 'x'"}, {Postgres, "SET ROLE postgres"}, {Postgres, "SET SESSION AUTHORIZATION postgres"},
	} {
		_, err := all(fine+"\n"+c.text+";\n", c.d)
		var at *Error
		if !errors.As(err, &at) || at.Line != 3 || hint.Of(err) == "" {
			t.Errorf("%s: %v (%s)", c.text, err, hint.Of(err))
		}
		if err != nil && len(err.Error()) > 200 {
			t.Errorf("a long error: %v", err)
		}
	}
	for d, text := range map[Dialect]string{
		MySQL:    "CREATE TABLE `system` (`grant` int, `use` text);\nINSERT INTO `system` VALUES (1,'\\\\! id');\nLOCK TABLES t WRITE;\nSET FOREIGN_KEY_CHECKS=0;\n",
		Postgres: "CREATE SCHEMA app;\nALTER SCHEMA app RENAME TO app2;\nCREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN END $$;\nSELECT pg_catalog.set_config('search_path', '', false);\n",
	} {
		if _, err := all(fine+text, d); err != nil {
			t.Error(err)
		}
	}
}

// Another delimiter does not hide a statement behind one that is allowed.
func TestDelimiterHidesNothing(t *testing.T) {
	_, err := all("DELIMITER ;;\nSELECT 1; GRANT ALL ON *.* TO x;;\n", MySQL)
	var at *Error
	if !errors.As(err, &at) || at.Line != 2 || hint.Of(err) == "" {
		t.Errorf("%v", err)
	}
}

// A file as editors of Windows write it is read, one that is no text is refused at its line.
func TestEncodings(t *testing.T) {
	got, err := all(byteOrderMark+"SELECT 1;\r\nSELECT '\xff\xfe';\r\n", MySQL)
	if want := []string{"SELECT 1", "SELECT '\xff\xfe'"}; !slices.Equal(got, want) || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	for text, d := range map[string]Dialect{
		"\xff\xfeS\x00E\x00": MySQL, "SELECT 1 -- \x00\n": MySQL, "-- \x00\n": MySQL, "/* \x00 */": MySQL, "SELECT '\\\x00'": MySQL,
		"SELECT $$\x00$$": Postgres, "COPY t FROM stdin;\na\x00\n\\.\n": Postgres,
	} {
		if got, err := all(text, d); err == nil || !strings.Contains(err.Error(), zeroByte) || hint.Of(err) == "" {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

// endless is a file without an end that repeats a byte.
type endless byte

func (e endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(e)
	}
	return len(b), nil
}

// A file without an end is an error, wherever it goes on, before it fills the memory.
func TestEndless(t *testing.T) {
	for _, c := range []struct {
		begin string
		d     Dialect
		e     endless
	}{
		{"", MySQL, ' '}, {"", MySQL, 'x'}, {"SELECT '", MySQL, 'x'}, {"-- ", MySQL, 'x'}, {"/* ", Postgres, 'x'}, {"COPY t FROM stdin;\n", Postgres, 'x'},
	} {
		r := NewReader(io.MultiReader(strings.NewReader(c.begin), c.e), c.d)
		r.most = 2 << 20
		s, err := r.Next()
		if err == nil && s.Rows {
			_, _, err = r.Row()
		}
		if err == nil || !strings.Contains(err.Error(), "more than 2 MiB") || hint.Of(err) == "" {
			t.Errorf("%q: %v", c.begin, err)
		}
	}
}

func TestCutOff(t *testing.T) {
	for text, d := range map[string]Dialect{"SELECT 'a": MySQL, "SELECT /* a": Postgres, "DO $$ x": Postgres, "COPY t FROM stdin;\n1\n": Postgres} {
		if _, err := all(text, d); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestScript(t *testing.T) {
	got, err := Script([]byte("\\set id random(1, 1000)\n\\set n 7\nSELECT c FROM t WHERE id = :id;\n-- end\nUPDATE t SET k = :n;\n"))
	want := []Step{{Line: 1, Name: "id", Low: 1, High: 1000}, {Line: 2, Name: "n", Low: 7, High: 7}, {Line: 3, Text: "SELECT c FROM t WHERE id = :id"}, {Line: 5, Text: "UPDATE t SET k = :n"}}
	for i := range got {
		got[i].word = ""
	}
	if !slices.Equal(got, want) || err != nil {
		t.Errorf("%+v, %v", got, err)
	}
	for _, text := range []string{"\\if :a < 1\nSELECT 1;\n\\endif\n", "\\set a 1\n\\if :a < 1\nSELECT 1;\n", "SELECT 1;\n\\else\n", "\\set a 1\n\\if :a + 1 < 2\nSELECT 1;\n\\endif\n",
		"\\set a 1\n\\if :a < 1\nSELECT 1;\n\\else\n\\elif :a > 1\n\\endif\n", "\\set a 1\n\\ifx :a < 1\nSELECT 1;\n", "", "\\set a 1\n", "\\shell id\nSELECT 1;", "SELECT 1;\n\\set a random_zipfian(1, 2, 3)\n", "\\set a random(5, 1)\nSELECT 1;", "\\set a 99999999999\nSELECT 1;"} {
		if _, err := Script([]byte(text)); err == nil {
			t.Errorf("%q is a script", text)
		}
	}
}

// Conditions become jumps: of \if, \elif and \else one branch runs.
func TestBranches(t *testing.T) {
	steps, err := Script([]byte("\\set a random(1, 3)\nSELECT 0;\n\\if :a <= 1\nSELECT 1;\n\\set b 9\n\\if :b = 9\nSELECT 9;\n\\endif\n\\elif :a=2\nSELECT 2;\n\\else\nSELECT 3;\n\\endif\nSELECT 4;\n"))
	if err != nil {
		t.Fatal(err)
	}
	holds := map[string]func(a, b uint32) bool{"<=": func(a, b uint32) bool { return a <= b }, "=": func(a, b uint32) bool { return a == b }}
	for a, want := range map[uint32]string{1: "SELECT 0 SELECT 1 SELECT 9 SELECT 4", 2: "SELECT 0 SELECT 2 SELECT 4", 3: "SELECT 0 SELECT 3 SELECT 4"} {
		var ran []string
		for i := 0; i < len(steps); i++ {
			s := steps[i]
			of := map[string]uint32{"a": a, "b": 9}[s.Name]
			switch {
			case s.Jumps() && (s.Op == "" || !holds[s.Op](of, s.Low)):
				i = s.To - 1
			case s.Text != "":
				ran = append(ran, s.Text)
			}
		}
		if got := strings.Join(ran, " "); got != want {
			t.Errorf("%d: %s; want %s", a, got, want)
		}
	}
}

// pgbench's own commands are allowed, but for those that start programs.
func TestCheckScript(t *testing.T) {
	for text, line := range map[string]string{
		"\\set aid random(1, 100000 * :scale)\nBEGIN;\nSELECT abalance FROM pgbench_accounts WHERE aid = :aid \\gset\n\\if :abalance > 0\nSELECT 1;\n\\endif\nEND;\n": "",
		"SELECT 1;\n\\setshell x id\n":     ":2: ",
		"SELECT 1;\n\\shell id\n":          ":2: ",
		"COPY t FROM PROGRAM 'id';":        ":1: ",
		"SELECT 1E'\\'';\n\\Shell id\n';":  ":2: ",
		"SELECT 1; /* \\ setshell x id */": ":1: ",
		byteOrderMark + "SELECT 1;":        ":1: ",
		"COPY t FROM stdin;\n1\n\\.\n":     ":1: ",
	} {
		path := filepath.Join(t.TempDir(), "mine.sql")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := CheckScript(path, Postgres); (err != nil) != (line != "") || err != nil && !strings.HasPrefix(err.Error(), path+line) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	for name, begin := range map[string]string{"a.xz": "\xfd7zXZ\x00", "a.dump": "PGDMP\x01\x0e", "a.tar": "toc.dat\x00"} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(begin+"rest"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Check(path, Postgres); err == nil || hint.Of(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Nothing crashes the reader, lines are within the file, and a statement that was let through is let through alone as
// well, as the same text: the check of a whole file sees no other limits than the server, which gets each alone.
func FuzzReader(f *testing.F) {
	f.Add("SELECT 1; COPY t FROM stdin;\n1\n\\.\n", true, false)
	f.Add("\f#\nSELECT 1;", false, false)
	f.Add("CREATE!DEFINER=``@``DEFINER=``@0", false, false)
	f.Add("DELIMITER ;;\n/*!50003 CREATE*/ /*!50017 DEFINER=`a`@`b`*/ /*!50003 TRIGGER x BEGIN SELECT 'x;'; END */;;", false, false)
	f.Add("\\set a random(1, 2)\nSELECT :a, '\\'' -- x\n; SELECT E'\\'', $a$;$a$ \\gset\n", true, true)
	f.Fuzz(func(t *testing.T, text string, postgres, scripted bool) {
		d := MySQL
		if postgres {
			d = Postgres
		}
		r := NewReader(strings.NewReader(text), d)
		r.scripted = scripted
		err := Each(r, func(s Statement) error {
			if s.Line < 1 || s.Line > 1+strings.Count(text, "\n") {
				t.Errorf("line %d of %q", s.Line, text)
			}
			if s.Text != "" && r.delimiter == ";" && !s.Rows && !scripted && !definer.MatchString(s.Text) {
				alone(t, s, d)
			}
			for more := s.Rows; more; {
				var err error
				if _, more, err = r.Row(); err != nil {
					return err
				}
			}
			return nil
		})
		var at *Error
		if err != nil && (!errors.As(err, &at) || at.Line < 1 || at.Line > 1+strings.Count(text, "\n") || hint.Of(err) == "") {
			t.Errorf("%q: %v", text, err)
		}
	})
}

// alone reads a statement alone.
func alone(t *testing.T, s Statement, d Dialect) {
	r := NewReader(strings.NewReader(s.Text+"\n;"), d)
	again, err := r.Next()
	if err != nil || again.Text != s.Text {
		t.Errorf("%q alone is %q, %v", s.Text, again.Text, err)
	}
}
