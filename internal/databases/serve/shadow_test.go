package serve

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/databases/dataset"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/databases/mysql"
	"github.com/tarelab/tare/internal/databases/postgres"
	"github.com/tarelab/tare/internal/testing/testneed"
)

// questions are all texts that tare's own sessions send to a server.
func questions(t *testing.T, kind string) []string {
	t.Helper()
	f, err := Find(t.Context(), kind, "", "")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Server{Dir: "/nowhere"}.recipe(f)
	if err != nil {
		t.Fatal(err)
	}
	all := append([]string{f.Service.Protocol().Ready, r.Finish, r.Warm}, r.Setup...)
	for _, q := range r.ReadBack {
		all = append(all, q.Ask)
	}
	_, _ = f.Service.Describe().Conf.Variables(func(q string) ([][]string, error) {
		all = append(all, q)
		return nil, io.EOF
	})
	return all
}

// shadows is SQL that defines, in the schema evil, everything that could stand in for a name in these questions:
// every word as a relation, a type and functions of all signatures that pg_catalog has, and all operators. Each
// counts its calls and tries to run a program. Every setting that could lead there, or hinder, leads there.
func shadows(questions []string, out string) string {
	var words []string
	for _, w := range regexp.MustCompile(`[a-z_][a-z_0-9]*`).FindAllString(strings.ToLower(strings.Join(questions, " ")), -1) {
		if !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return `CREATE SCHEMA evil;
CREATE SEQUENCE evil.calls;
CREATE TABLE public.plain (id int PRIMARY KEY, a text);
INSERT INTO public.plain SELECT n, 'x' FROM generate_series(1, 100) n;
CREATE TABLE public."it's ""odd""; %I" ("Id; --" int PRIMARY KEY);
CREATE FUNCTION evil.called() RETURNS bool LANGUAGE plpgsql AS $$ BEGIN
	PERFORM pg_catalog.nextval('evil.calls');
	BEGIN EXECUTE 'COPY (SELECT 1) TO PROGRAM ''touch ` + out + `/program'''; EXCEPTION WHEN OTHERS THEN NULL; END;
	BEGIN EXECUTE 'COPY (SELECT 1) TO ''` + out + `/file'''; EXCEPTION WHEN OTHERS THEN NULL; END;
	RETURN true;
END $$;
DO $do$ DECLARE word text; f record; BEGIN
	FOREACH word IN ARRAY string_to_array('` + strings.Join(words, " ") + `', ' ') LOOP
		FOR f IN SELECT pg_get_function_identity_arguments(p.oid) AS args, pg_get_function_result(p.oid) AS result FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE nspname = 'pg_catalog' AND proname = word LOOP
			BEGIN EXECUTE format('CREATE FUNCTION evil.%I(%s) RETURNS %s LANGUAGE plpgsql AS $f$ BEGIN PERFORM evil.called(); RETURN NULL; END $f$', word, f.args, f.result); EXCEPTION WHEN OTHERS THEN NULL; END;
		END LOOP;
		FOREACH f.args IN ARRAY ARRAY['', 'text', 'text, name', 'text, name, name', 'text, text', 'text, text, text', 'name', 'anyelement', 'VARIADIC text[]'] LOOP
			BEGIN EXECUTE format('CREATE FUNCTION evil.%I(%s) RETURNS text LANGUAGE plpgsql AS $f$ BEGIN PERFORM evil.called(); RETURN ''SELECT 1''; END $f$', word, f.args); EXCEPTION WHEN OTHERS THEN NULL; END;
		END LOOP;
		BEGIN EXECUTE format('CREATE VIEW evil.%I AS SELECT evil.called()::text AS schemaname, evil.called()::text AS tablename, evil.called()::text AS name, evil.called()::text AS setting', word); EXCEPTION WHEN OTHERS THEN NULL; END;
		BEGIN EXECUTE format('CREATE DOMAIN evil.%I AS pg_catalog.text CHECK (evil.called())', word); EXCEPTION WHEN OTHERS THEN NULL; END;
	END LOOP;
	FOREACH word IN ARRAY ARRAY['text', 'name', 'oid', 'int2', 'int4', 'regclass', 'int2vector', 'bool'] LOOP
		BEGIN EXECUTE format('CREATE DOMAIN evil.%I AS pg_catalog.%1$I CHECK (evil.called())', word); EXCEPTION WHEN OTHERS THEN NULL; END;
	END LOOP;
END $do$;
CREATE TYPE evil.pair AS (a text);
CREATE FUNCTION evil.pair_text(evil.pair) RETURNS pg_catalog.text LANGUAGE plpgsql AS $$ BEGIN PERFORM evil.called(); RETURN 'x'; END $$;
CREATE CAST (evil.pair AS pg_catalog.text) WITH FUNCTION evil.pair_text(evil.pair) AS IMPLICIT;
DO $do$ DECLARE o record; BEGIN
	FOR o IN SELECT oprname, oprleft::regtype AS l, oprright::regtype AS r, oprresult::regtype AS result, p.oid FROM pg_operator p JOIN pg_namespace n ON n.oid = oprnamespace
		WHERE nspname = 'pg_catalog' AND oprleft <> 0 AND oprname IN ('=', '<>', '<', '>', '<=', '>=', '||', '~~', '!~~', '*', '+') LOOP
		BEGIN
			EXECUTE format('CREATE FUNCTION evil.op%s(l %s, r %s) RETURNS %s LANGUAGE plpgsql AS $f$ BEGIN PERFORM evil.called(); RETURN NULL; END $f$', o.oid, o.l, o.r, o.result);
			EXECUTE format('CREATE OPERATOR evil.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = evil.op%s)', o.oprname, o.l, o.r, o.oid);
		EXCEPTION WHEN OTHERS THEN NULL; END;
	END LOOP;
END $do$;
DO $do$ DECLARE s text; BEGIN
	FOREACH s IN ARRAY ARRAY['search_path = evil, pg_catalog, public', 'statement_timeout = 1', 'lock_timeout = 1', 'default_transaction_read_only = on', 'temp_tablespaces = ''''', 'DateStyle = ''German''', 'enable_seqscan = off', 'client_min_messages = error', 'role = sbtest', 'row_security = off', 'plan_cache_mode = force_generic_plan'] LOOP
		EXECUTE 'ALTER ROLE sbtest SET ' || s;
		EXECUTE 'ALTER DATABASE sbtest SET ' || s;
		EXECUTE 'ALTER ROLE sbtest IN DATABASE sbtest SET ' || s;
	END LOOP;
END $do$;
`
}

// A dump defines everything that stands in tare's questions. No question of tare's meets any of it, while the data set
// is made and in an arm; no program runs, and no file is outside.
func TestDumpShadowsEverything(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	out := sharedDir(t)
	store := dataset.Store{Dir: t.TempDir()}
	dump := written(t, "evil.sql", shadows(questions(t, postgres.Name), out))
	// restored waits, warms and reads settings by sessions of tare's own.
	dir, listen := restored(t, postgres.Name, store, dump, nil)
	s := Server{Dir: dir, Listen: listen}
	r, err := s.Recipe(t.Context(), postgres.Name)
	if err != nil {
		t.Fatal(err)
	}
	c := client(t, db.Address{Protocol: postgres.Name, Dir: dir, User: db.User, Secret: secret(t, dir), Database: db.Database})
	settings, err := c.ReadBack(t.Context(), r.ReadBack)
	if err != nil || len(settings) < 10 {
		t.Errorf("%+v, %v", settings, err)
	}
	answers := asked{
		"SELECT is_called FROM evil.calls": "false", "SELECT count(*) FROM public.plain": "100",
		"SELECT reltuples FROM pg_class WHERE oid = 'public.plain'::regclass": "100", // analysed
	}
	for question, want := range answers {
		if v, err := c.Value(t.Context(), question); v != want || err != nil {
			t.Errorf("%s: %s, %v", question, v, err)
		}
	}
	isEmpty(t, out)
	given := client(t, postgresAddress(t, dir, ""))
	if err := given.Exec(t.Context(), "SET statement_timeout = 0"); err != nil {
		t.Fatal(err)
	}
	_, err = given.Value(t.Context(), "SELECT count(*) FROM pg_tables")
	if v, _ := c.Value(t.Context(), "SELECT is_called FROM evil.calls"); v != "true" && err == nil {
		t.Error("the dump shadows nothing")
	}
}

// On a user's own server the questions of --like meet nothing that its users have defined, either, and leave nothing
// behind.
func TestLikeMeetsNoShadows(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	out := sharedDir(t)
	dir, listen := restored(t, postgres.Name, dataset.Store{Dir: t.TempDir()}, written(t, "evil.sql", strings.ReplaceAll(shadows(questions(t, postgres.Name), out), "_timeout = 1'", "_timeout = 60000'")), nil)
	asksSettings(t, postgres.Name, db.Address{Dial: listen, User: db.User, Secret: secret(t, dir), Database: db.Database})
	c := client(t, db.Address{Protocol: postgres.Name, Dir: dir, User: db.User, Secret: secret(t, dir), Database: db.Database})
	if v, err := c.Value(t.Context(), "SELECT is_called FROM evil.calls"); v != "false" || err != nil {
		t.Errorf("a question of --like met a name of the dump's: %s, %v", v, err)
	}
	isEmpty(t, out)
}

// definers is a dump of MariaDB's or MySQL's: objects of root, an event, names that need quotes, and a mode in which
// strings and names are written otherwise.
const definers = "CREATE TABLE `a``b; --` (`x``y` int PRIMARY KEY, KEY `k``; DROP` (`x``y`));\nINSERT INTO `a``b; --` VALUES (1);\n" +
	"CREATE TABLE ticks (a int);\nCREATE TABLE `ANALYZE``; DELETE FROM ticks` (a int);\n" +
	"/*!50003 CREATE*/ /*!50020 DEFINER=`root`@`localhost`*/ /*!50003 FUNCTION `concat`(a text) RETURNS text DETERMINISTIC RETURN 'x' */;\n" +
	"CREATE DEFINER=`root`@`localhost` FUNCTION replace_all() RETURNS int SQL SECURITY DEFINER RETURN (SELECT COUNT(*) FROM mysql.user);\n" +
	"CREATE DEFINER='root'@'localhost' SQL SECURITY DEFINER VIEW users AS SELECT 1 AS a;\n" +
	"CREATE DEFINER=root@localhost TRIGGER tr BEFORE INSERT ON ticks FOR EACH ROW SET @a = 1;\n" +
	"DELIMITER ;;\nCREATE DEFINER=`root`@`localhost` EVENT e ON SCHEDULE EVERY 1 SECOND DO BEGIN INSERT INTO ticks VALUES (1); END;;\nDELIMITER ;\n" +
	"SET sql_mode = 'ANSI_QUOTES,PIPES_AS_CONCAT,IGNORE_SPACE';\nSET time_zone = '+01:00', sql_safe_updates = 1, max_statement_time = 0, autocommit = 0, default_storage_engine = MyISAM;\n"

// Nothing of a dump of MariaDB's runs as root or on a timer, and names are quoted, whatever mode the server has.
func TestDumpDefiners(t *testing.T) {
	t.Parallel()
	testneed.Tool(t, "mariadbd")
	out, store := sharedDir(t), dataset.Store{Dir: t.TempDir()}
	dump := written(t, "root.sql", definers)
	for _, mode := range []string{"", "--sql_mode=ANSI_QUOTES,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES,IGNORE_SPACE,ORACLE"} {
		prepare := Prepare{Dump: dump}
		if mode != "" {
			prepare.Options = []string{mode}
			prepare.Dump = written(t, "root.sql", strings.ReplaceAll(strings.ReplaceAll(definers, "concat", "conc_at"), "DELIMITER", "-- DELIMITER")[:strings.Index(definers, "/*!50003")])
		}
		p, err := prepare.Run(t.Context(), mysql.MariaDB, store, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(t.TempDir(), "data")
		copyTree(t, dir, p.Dir)
		server, r, err := Server{Dir: dir, Walled: true, Options: prepare.Options}.Start(t.Context(), mysql.MariaDB, os.Stderr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(server.Kill)
		at := db.Address{Protocol: mysql.Family, Dir: dir, User: db.User, Secret: secret(t, dir), Database: db.Database}
		c := client(t, at)
		if err := c.Await(t.Context(), readyLimit, server.Alive); err != nil {
			t.Fatal(err)
		}
		if err := c.ExecEach(t.Context(), r.Warm); err != nil {
			t.Error(err)
		}
		if _, err := c.ReadBack(t.Context(), r.ReadBack); err != nil {
			t.Error(err)
		}
		answers := asked{
			"SELECT @@sql_mode": "", "SELECT @@GLOBAL.event_scheduler": "OFF", "SELECT COUNT(*) FROM ticks": "0", "SELECT COUNT(*) FROM `a``b; --`": "1",
			"SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'sbtest' AND table_type = 'BASE TABLE'": "3",
		}
		if mode == "" {
			answers["SELECT COUNT(*) FROM information_schema.events WHERE definer LIKE 'root%'"] = "0"
			answers["SELECT COUNT(*) FROM information_schema.events WHERE definer LIKE 'sbtest%'"] = "1"
			answers["SELECT COUNT(*) FROM information_schema.routines WHERE definer LIKE 'root%'"] = "0"
			answers["SELECT COUNT(*) FROM information_schema.views WHERE definer LIKE 'root%'"] = "0"
		}
		for question, want := range answers {
			if got, err := c.Value(t.Context(), question); got != want || err != nil {
				t.Errorf("%s: %q, %v; want %q", question, got, err, want)
			}
		}
		for _, s := range []string{"SET GLOBAL event_scheduler = ON", "CREATE DEFINER=root@localhost VIEW v AS SELECT 1", "CREATE DEFINER=root@localhost EVENT e2 ON SCHEDULE EVERY 1 SECOND DO SELECT 1", "SET GLOBAL init_connect = 'SELECT 1'"} {
			if err := c.Exec(t.Context(), s); err == nil {
				t.Errorf("the load's user may: %s", s)
			}
		}
	}
	isEmpty(t, out)
}
