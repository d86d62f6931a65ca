package mysql

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/tarelab/tare/internal/databases/db"
)

// The banner is one line, the same for 20 years:
//
//	mariadbd  Ver 10.11.6-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)
//	/usr/sbin/mysqld  Ver 8.0.36 for Linux on x86_64 (MySQL Community Server - GPL)
//	mysqld  Ver 8.0.36-28 for Linux on x86_64 (Percona Server (GPL), Release 28, Revision 47601f19)
var bannerPattern = regexp.MustCompile(`\sVer (([0-9]+)\.([0-9]+)\.([0-9]+)\S*) for (.*)`)

// oldest is the first version of each flavour whose options are known.
var oldest = map[string][]int{MariaDB: {10, 4}, Oracle: {5, 7}, Percona: {5, 7}}

// Identify reads the banner.
func (m Service) Identify(banner string) (db.Version, error) {
	found := bannerPattern.FindStringSubmatch(banner)
	if found == nil {
		return db.Version{}, fmt.Errorf("unknown version %q: want what mysqld --version prints", db.FirstLine(banner))
	}
	v, err := db.ParseVersion(flavour(found[1], found[5]), found[1], found[2:5])
	if err != nil {
		return db.Version{}, err
	}
	if v.Flavour != m.Flavour {
		return db.Version{}, &db.OtherServerError{Is: v.String(), Want: m.Flavour}
	}
	if oldest := oldest[v.Flavour]; !v.AtLeast(oldest...) {
		return db.Version{}, fmt.Errorf("%s is too old: want %d.%d or later", v, oldest[0], oldest[1])
	}
	return v, nil
}

func flavour(version, comment string) string {
	switch {
	case strings.Contains(version, "MariaDB"):
		return MariaDB
	case strings.Contains(comment, "Percona"):
		return Percona
	}
	return Oracle
}
