package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/undo/journal"
)

// packaged runs a maintainer script of the packages with journals in /var/lib/tare and data sets in /var/cache/tare of a
// mount namespace of its own, and prints afterwards what is there. /run is its own too: the scripts remove /run/tare.
const packaged = `mount -t tmpfs none /var/lib && mount -t tmpfs none /var/cache && mount -t tmpfs none /run || exit 99
mkdir -p -m 700 /var/lib/tare/journal /var/cache/tare/data/mysql-8
cp "$2"/*.jsonl /var/lib/tare/journal 2>/dev/null
sh "$3/$1" "$4"
code=$?
find /var/lib/tare /var/cache/tare -mindepth 1 -maxdepth 3 -name '*.jsonl' -o -name 'mysql-8'
exit $code`

// maintainer runs a script with these journals, by run.
func maintainer(t *testing.T, script, how string, environ []string, journals map[string]string) (string, int) {
	t.Helper()
	dir, bin := t.TempDir(), t.TempDir()
	for run, text := range journals {
		if err := os.WriteFile(filepath.Join(dir, run+".jsonl"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err == nil {
		err = os.WriteFile(filepath.Join(bin, "tare"), []byte("#!/bin/sh\nexec "+self+" __cli \"$@\"\n"), 0o755)
	}
	scripts, aerr := filepath.Abs("../../tools/release/package")
	if err := errors.Join(err, aerr); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("unshare", "--mount", "sh", "-c", packaged, "sh", script, dir, scripts, how)
	cmd.Env = append([]string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=/root"}, environ...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// ofJournal is the text of the journal of the run abc, of a process that has ended, with these lines.
func ofJournal(lines ...string) string {
	header := fmt.Sprintf(`{"header":{"schema":%q,"run":"abc","pid":1,"start_ticks":1,"boot":"another","command":["tare"],"time":"2026-11-25T00:00:00Z"}}`, journal.Schema)
	return strings.Join(append([]string{header}, lines...), "\n") + "\n"
}

// Before the package goes, what a killed run left is undone. A run that is going, something that stays and a damaged
// journal each keep the package, with their reason, file or process, and what ends it. No variable changes that.
func TestPackageIsRemoved(t *testing.T) {
	testneed.Root(t)
	stays := filepath.Join(t.TempDir(), "tare-abc")
	const at = `/var/lib/tare/journal/abc\.jsonl`
	directory := func(path string) string {
		return `{"step":{"kind":"directory","path":` + strconv.Quote(path) + `},"token":1}`
	}
	const odd = `cd /; mkdir -p ` // a mount below the directory keeps it
	if out, err := exec.Command("sh", "-c", odd+stays+"/mnt && mount -t tmpfs none "+stays+"/mnt").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", stays+"/mnt").CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	for name, c := range map[string]struct {
		journal string
		code    int
		said    string
	}{
		"a killed run":     {ofJournal(directory("/nowhere/tare-abc")), 0, `undone directory /nowhere/tare-abc`},
		"nothing left":     {ofJournal(), 0, `nothing to clean up`},
		"something stays":  {ofJournal(directory(stays)), 1, `umount ` + stays + `(?s).*something that a killed run left`},
		"no bytes":         {"", 1, at + ` is damaged.*rm ` + at + `(?s).*a journal is damaged`},
		"half a header":    {ofJournal()[:30], 1, at + ` is damaged.*rm ` + at + `(?s).*a journal is damaged`},
		"another version":  {strings.Replace(ofJournal(directory("/nowhere/tare-abc")), journal.Schema, "tare/journal/v9", 1), 1, at + ` is damaged.*tare/journal/v9(?s).*a journal is damaged`},
		"an unknown step":  {ofJournal(`{"step":{"kind":"applied"},"token":1}`), 1, at + ` is damaged.*"applied"(?s).*a journal is damaged`},
		"somebody's files": {ofJournal(directory("/home/somebody")), 1, at + ` is damaged(?s).*a journal is damaged`},
	} {
		t.Run(name, func(t *testing.T) {
			for _, environ := range [][]string{nil, {"TARE_DRY_RUN=true", "TARE_COLOR=red", "TARE_LANG=klingon"}} {
				out, code := maintainer(t, "preremove", "remove", environ, map[string]string{"abc": c.journal})
				kept := strings.Contains(out, "\n/var/lib/tare/journal/abc.jsonl\n")
				if code != c.code || kept != (c.code != 0) || !regexp.MustCompile(c.said).MatchString(out) || strings.Contains(out, "would undo") {
					t.Errorf("exit code %d, want %d, journal kept: %v\n%s", code, c.code, kept, out)
				}
			}
		})
	}
	if out, code := maintainer(t, "preremove", "upgrade", nil, map[string]string{"abc": ""}); code != 0 {
		t.Errorf("upgrade: %d\n%s", code, out)
	}
}

// A run that is going keeps the package; the hint says to wait for it, or to end it.
func TestPackageStaysBesideARun(t *testing.T) {
	testneed.Root(t)
	state := t.TempDir()
	j, err := journal.Open(state, "abc")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(state, "journal", "abc.jsonl"))
	if err := errors.Join(err, j.Close()); err != nil {
		t.Fatal(err)
	}
	out, code := maintainer(t, "preremove", "remove", nil, map[string]string{"abc": string(text)})
	pid := strconv.Itoa(os.Getpid())
	if code != 1 || !strings.Contains(out, "(pid "+pid+")") || !strings.Contains(out, "hint: wait for it, or end it: kill "+pid) || !strings.Contains(out, "a run is still going") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

// A purge keeps data sets; the removal before says where they are, and which command removes them.
func TestPurgeKeepsDataSets(t *testing.T) {
	testneed.Root(t)
	out, code := maintainer(t, "preremove", "remove", nil, nil)
	if code != 0 || !strings.Contains(out, "data sets stay in /var/cache/tare") || !strings.Contains(out, "tare cache prune --all") {
		t.Errorf("%d\n%s", code, out)
	}
	for _, how := range []string{"remove", "purge", "0"} {
		out, code := maintainer(t, "postremove", how, nil, map[string]string{"abc": ofJournal()})
		if code != 0 || !strings.Contains(out, "/var/cache/tare/data/mysql-8") || strings.Contains(out, "/var/lib/tare/") {
			t.Errorf("%s: %d\n%s", how, code, out)
		}
	}
}
