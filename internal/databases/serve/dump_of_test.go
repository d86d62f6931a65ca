package serve

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/databases/db"
)

// A dump names the server that it comes from; the error of one that another server does not take says so.
func TestOriginOfDump(t *testing.T) {
	for head, want := range map[string]string{
		"-- MySQL dump 10.13  Distrib 9.7.4, for Linux (x86_64)\n--\n-- Host: localhost\n":                                                   "MySQL 9.7.4",
		"-- MySQL dump 10.13  Distrib 8.0.15, for Linux (x86_64)\n-- Server version\t5.7.22-log\n":                                           "MySQL 5.7.22",
		"/*M!999999\\- enable the sandbox mode */ \n-- MariaDB dump 10.19  Distrib 10.11.6-MariaDB, for debian-linux-gnu (x86_64)\n":         "MariaDB 10.11.6",
		"-- MySQL dump 10.19  Distrib 10.5.1-MariaDB, for Linux\n-- Server version\t10.5.1-MariaDB\n":                                        "MariaDB 10.5.1",
		"--\n-- PostgreSQL database dump\n--\n\n-- Dumped from database version 17.6 (Debian 17.6-1)\n-- Dumped by pg_dump version 17.6\n\n": "PostgreSQL 17.6",
		"CREATE TABLE a (b INT);\n": "",
	} {
		if got := originOf(head); got != want {
			t.Errorf("%q: %q, want %q", head, got, want)
		}
	}
	path := filepath.Join(t.TempDir(), "shop.sql")
	if err := os.WriteFile(path, []byte("-- MySQL dump 10.13  Distrib 9.7.4, for Linux\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	maria := Found{Version: db.Version{Flavour: "mariadb", Text: "10.11.19-MariaDB-0+deb12u1"}}
	err := dumpFiller{path: path}.ofAnother(maria, errors.New("near '('"))
	if !strings.Contains(err.Error(), "this is a dump of MySQL 9.7.4 and the server is MariaDB 10.11.19") || !strings.Contains(hint.Of(err), "--server PATH") {
		t.Errorf("%v (%s)", err, hint.Of(err))
	}
	same := Found{Version: db.Version{Flavour: "mysql", Text: "9.7.4"}}
	if err := (dumpFiller{path: path}).ofAnother(same, errors.New("near '('")); err.Error() != "near '('" {
		t.Error(err)
	}
}
