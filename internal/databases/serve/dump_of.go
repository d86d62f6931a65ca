package serve

import (
	"fmt"
	"io"
	"regexp"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/databases/sqlfile"
)

// The lines in which dumps name the server that they come from:
//
//	-- MySQL dump 10.13  Distrib 8.0.36, for Linux (x86_64)
//	-- Server version	8.0.36
//	-- MariaDB dump 10.19  Distrib 10.11.6-MariaDB, for debian-linux-gnu (x86_64)
//	-- Dumped from database version 15.4 (Debian 15.4-1)
var (
	dumpedByMySQL    = regexp.MustCompile(`(?m)^-- (?:MySQL|MariaDB) dump .*Distrib ([0-9][0-9A-Za-z.]*)`)
	serverVersion    = regexp.MustCompile(`(?m)^-- Server version\s+([0-9][0-9A-Za-z.]*)(\S*)`)
	dumpedByPostgres = regexp.MustCompile(`(?m)^-- Dumped from database version ([0-9][0-9A-Za-z.]*)`)
)

// originOf is the product and version that a dump says it comes from; "": it does not say.
func originOf(head string) string {
	if found := dumpedByPostgres.FindStringSubmatch(head); found != nil {
		return "PostgreSQL " + found[1]
	}
	found := dumpedByMySQL.FindStringSubmatch(head)
	if found == nil {
		return ""
	}
	product, version := "MySQL", found[1]
	if regexp.MustCompile(`^-- MariaDB dump|(?m)^-- (?:Server version|\S+ dump).*MariaDB|^/\*M!`).MatchString(head) {
		product = "MariaDB"
	}
	if server := serverVersion.FindStringSubmatch(head); server != nil {
		version = server[1]
	}
	return product + " " + version
}

// ofAnother adds to the error of a dump that it comes from another server than the one that it fills.
func (d dumpFiller) ofAnother(f Found, err error) error {
	in, openErr := sqlfile.Open(d.path)
	if openErr != nil {
		return err
	}
	defer in.Close()
	head, _ := io.ReadAll(io.LimitReader(in, 4096)) // the error about it is err
	origin := originOf(string(head))
	if is := f.Version.Product(); origin != "" && origin != is {
		return hint.New(fmt.Errorf("%w; this is a dump of %s and the server is %s", err, origin, db.FirstLine(is)), "name the server of the dump: --server PATH")
	}
	return err
}
