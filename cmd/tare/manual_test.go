package main

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/testing/testneed"
)

// The manual pages have no error, and every command and flag of help.
func TestManual(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "man1")
	out, code := tareSays(t, t.TempDir(), "man", dir)
	if code != 0 {
		t.Fatal(out)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil || len(pages) < 20 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	mandoc := testneed.Tool(t, "mandoc")
	lint := exec.Command(mandoc, append([]string{"-T", "lint", "-W", "warning"}, pages...)...)
	if out, err := lint.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("mandoc: %v\n%s", err, out)
	}
	for _, page := range pages {
		command := strings.TrimPrefix(strings.TrimSuffix(filepath.Base(page), ".1"), "tare")
		words := strings.Fields(strings.ReplaceAll(command, "-", " "))
		help, code := tareSays(t, t.TempDir(), append([]string{"help"}, words...)...)
		if code != 0 {
			t.Errorf("%s: %s", page, help)
		}
		text, err := exec.Command(mandoc, "-T", "ascii", page).Output()
		if err != nil {
			t.Fatal(err)
		}
		plain := regexp.MustCompile(`.\x08`).ReplaceAllString(string(text), "")
		for _, flag := range regexp.MustCompile(`(?m)^ +(?:-\w, )?(--[a-z-]+)`).FindAllStringSubmatch(help, -1) {
			if !strings.Contains(plain, flag[1]) {
				t.Errorf("%s has no %s", page, flag[1])
			}
		}
		codes := strings.Contains(help, "Exit codes:") == strings.Contains(plain, "EXIT STATUS")
		if !codes || !strings.Contains(plain, "TARE_BUDGET=10m") {
			t.Errorf("%s has no environment or exit status:\n%s", page, plain)
		}
	}
}
