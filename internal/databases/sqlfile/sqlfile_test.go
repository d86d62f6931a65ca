package sqlfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/hint"
)

// all are the statements of a text, "LINE: TEXT", and the rows of COPY.
func all(text string, d Dialect) (out []string, err error) {
	r := NewReader(strings.NewReader(text), d, Longest)
	for {
		s, err := r.Next()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		if !s.skip {
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
	const fine = "SELECT 'x', 'CREATE DATABASE x', \"USE\" /* GRANT ALL */;\n"
	for _, c := range []struct {
		d    Dialect
		text string
	}{
		{MySQL, `\! id`}, {MySQL, `SELECT 1 \! id`}, {MySQL, `\. other.sql`}, {MySQL, "system id"}, {MySQL, "source other.sql"}, {MySQL, "SoUrCe other.sql"},
		{MySQL, "CREATE USER x"}, {MySQL, "GRANT ALL ON *.* TO x"}, {MySQL, "SET @@GLOBAL.GTID_PURGED=/*!80000 '+'*/ 'x'"}, {MySQL, "SET@@GLOBAL.gtid_purged='x'"},
		{MySQL, "CREATE DATABASE /*!32312 IF NOT EXISTS*/ `shop`"}, {MySQL, "/*!40000 DROP DATABASE IF EXISTS `shop`*/"}, {MySQL, "USE `shop`"}, {MySQL, "USE shop"},
		{MySQL, "SET sql_mode = 'NO_BACKSLASH_ESCAPES'"}, {MySQL, "/*!50003 SET sql_mode = 'ANSI,No_Backslash_Escapes' */"}, {MySQL, "SELECT '\x00'"},
		{MySQL, "SET@@sql_mode = 'NO_BACKSLASH_ESCAPES'"}, {Postgres, "SET standard_conforming_strings TO 'off'"}, {Postgres, "SELECT set_config('standard_conforming_strings', 'off', false)"},
		{Postgres, `\! id`}, {Postgres, `\i other.sql`}, {Postgres, `\connect shop`}, {Postgres, `SELECT 1 \g |id`}, {Postgres, `\copy t from 'x'`}, {Postgres, `\COPY t FROM 'x'`},
		{Postgres, "SELECT 1; \\copy t from program 'id'"}, {Postgres, "CREATE ROLE x"}, {Postgres, "ALTER USER postgres SUPERUSER"}, {Postgres, "GRANT ALL ON t TO x"},
		{Postgres, "CREATE DATABASE shop"}, {Postgres, "SET ROLE postgres"}, {Postgres, "SET SESSION AUTHORIZATION postgres"},
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
		Postgres: "CREATE SCHEMA app;\nALTER SCHEMA app RENAME TO app2;\nCREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN END $$;\nSELECT pg_catalog.set_config('search_path', '', false);\nCREATE EXTENSION IF NOT EXISTS pgcrypto WITH SCHEMA public;\n",
	} {
		if _, err := all(fine+text, d); err != nil {
			t.Error(err)
		}
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
		{"", Postgres, '\n'}, {"SELECT 1", MySQL, '\n'}, {"SELECT 1 -- ", Postgres, 'x'}, {"SELECT ", MySQL, ','}, {"SELECT $x$", Postgres, '$'}, {"SELECT ", Postgres, '"'}, {"SELECT `", MySQL, 'x'},
	} {
		for _, counts := range []bool{false, true} {
			r := NewReader(io.MultiReader(strings.NewReader(c.begin), c.e), c.d, 2<<20)
			r.counts = counts
			s, err := r.Next()
			if err == nil && s.Rows {
				_, _, err = r.Row()
			}
			if err == nil || !strings.Contains(err.Error(), "more than 2MiB (statement_size)") || !strings.Contains(hint.Of(err), "--set statement_size=") {
				t.Errorf("%q: %v", c.begin, err)
			}
		}
	}
}

// The check of a file holds no statement in memory, whatever the statement is made of.
func TestCheckHoldsNothing(t *testing.T) {
	for begin, part := range map[string]string{
		"INSERT INTO t VALUES (1": ",(2,'some text')", "SELECT '": "x\n", "SELECT 1": "\n", "SELECT ": "a b ", "SELECT /* ": "x * / ", "": "-- comment\n", "SELECT 1 --": " x", "SELECT `": "name",
	} {
		source := &repeated{text: part, left: 16 << 20}
		r := NewReader(io.MultiReader(strings.NewReader(begin), source), MySQL, Longest)
		r.counts = true
		runtime.GC()
		_, _ = r.Next() // some are cut off
		if source.most-source.least > 12<<20 {
			t.Errorf("%q: %d MiB in memory of 16 MiB", begin, (source.most-source.least)>>20)
		}
	}
}

// repeated is a text, again and again for some bytes. It notes the least and the most memory in use meanwhile.
type repeated struct {
	text        string
	left        int
	least, most uint64
}

func (r *repeated) Read(b []byte) (n int, err error) {
	if r.left <= 0 {
		return 0, io.EOF
	}
	for n+len(r.text) <= len(b) {
		n += copy(b[n:], r.text)
	}
	r.left -= n
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	if r.most = max(r.most, now.HeapAlloc); r.least == 0 {
		r.least = now.HeapAlloc
	}
	return n, nil
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
		if _, err := Check(path, Postgres, Longest); err == nil || hint.Of(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Nothing crashes the reader, lines are within the file, and a statement is the same statement alone.
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
		r := NewReader(strings.NewReader(text), d, Longest)
		r.scripted = scripted
		err := Each(r, func(s Statement) error {
			if s.Line < 1 || s.Line > 1+strings.Count(text, "\n") {
				t.Errorf("line %d of %q", s.Line, text)
			}
			if s.Text != "" && !s.skip && r.delimiter == ";" && !s.Rows && !scripted && !definer.MatchString(s.Text) {
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
	r := NewReader(strings.NewReader(s.Text+"\n;"), d, Longest)
	again, err := r.Next()
	if err != nil || again.Text != s.Text {
		t.Errorf("%q alone is %q, %v", s.Text, again.Text, err)
	}
}

// A name in a statement that nothing has drawn is an error with its line; casts, slices, assignments and strings are none.
func TestNeverDrawn(t *testing.T) {
	for _, c := range []struct {
		dialect    Dialect
		text, says string
	}{
		{MySQL, "SELECT 1;\nSELECT c FROM t WHERE id = :id;\n", ":2: :id is never drawn"},
		{MySQL, "SELECT :id;\n\\set id random(1, 9)\n", ":1: :id is never drawn"},
		{MySQL, "\\set id random(1, 9)\nSELECT ':x', `a:b`, @a:=1, :id /* :y */;\n", ""},
		{Postgres, "SELECT :Id;\n", ":1: :Id is never drawn"},
		{Postgres, "\\set id random(1, 9 * :scale)\nSELECT :id::int, a[1:n], ':x', :client_id, b[:m];\n", ""},
		{Postgres, "SELECT 1 AS one \\gset\nSELECT :one;\n", ""},
	} {
		path := filepath.Join(t.TempDir(), "x.sql")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := CheckScript(path, c.dialect)
		if c.says == "" && err != nil || c.says != "" && (err == nil || err.Error() != path+c.says) {
			t.Errorf("%q: %v; want %s", c.text, err, c.says)
		}
	}
}
