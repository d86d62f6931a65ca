package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// The folders of each tier are those of the imports of its tests, or exceptions with a reason.
func TestListsAreTheImportClosure(t *testing.T) {
	f, err := readFile(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, tier := range f.Tiers {
		if tier.Always {
			continue
		}
		t.Run(tier.Name, func(t *testing.T) {
			t.Parallel()
			tests, err := packages(root, tier)
			if err != nil {
				t.Fatal(err)
			}
			linked := closure(t, tests, tier.Tags)
			on, except := f.on(tier), f.except(tier)
			for _, folder := range linked {
				if !within(folder, on) && !within(folder, except) {
					t.Errorf("its tests import %s: name it under on:, or under except: with the reason", folder)
				}
			}
			for _, folder := range slices.Concat(on, except) {
				switch info, err := os.Stat(filepath.Join(root, folder)); {
				case err != nil:
					t.Errorf("%s does not exist", folder)
				case !info.IsDir() || within(folder, []string{"tools", "docs"}) || within(folder, common):
				case !slices.ContainsFunc(linked, func(l string) bool { return within(l, []string{folder}) }):
					t.Errorf("its tests import nothing of %s: take it off the list", folder)
				}
			}
			for _, folder := range on {
				if within(folder, except) {
					t.Errorf("%s is under on: and under except:", folder)
				}
			}
			for _, folder := range tests {
				if within(folder, except) {
					t.Errorf("%s is excepted, and the tier runs its tests", folder)
				}
			}
			for _, script := range scripts(t, tier) {
				if !within(script, slices.Concat(on, common)) {
					t.Errorf("its command runs %s: name it under on:", script)
				}
			}
			compares(t, tier, tests)
		})
	}
}

// closure returns the folders of tare's packages that the tests of packages import.
func closure(t *testing.T, tests []string, tags string) []string {
	t.Helper()
	const module = "github.com/tarelab/tare/"
	args := []string{"list", "-deps", "-test", "-tags=" + tags, "-f", "{{.ImportPath}}"}
	for _, dir := range tests {
		args = append(args, "./"+dir)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	folders := map[string]bool{}
	for _, line := range strings.Split(string(out), "\n") {
		path, _, _ := strings.Cut(line, " ") // "PATH [PATH.test]" is compiled for a test
		path = strings.TrimSuffix(strings.TrimSuffix(path, ".test"), "_test")
		if folder, ok := strings.CutPrefix(path, module); ok {
			folders[folder] = true
		}
	}
	return slices.Sorted(maps.Keys(folders))
}

var (
	comment = regexp.MustCompile(`(?m)^\s*#.*$`)
	script  = regexp.MustCompile(`\btools/[A-Za-z0-9_./-]*[A-Za-z0-9_]`)
)

// scripts returns what a tier's command names below tools, and what these files name.
func scripts(t *testing.T, tier Tier) []string {
	t.Helper()
	found := map[string]bool{}
	var look func(text string)
	look = func(text string) {
		text = strings.ReplaceAll(text, "-C tools/", "tools/")
		text = regexp.MustCompile(`-C tools run \./`).ReplaceAllString(text, "tools/")
		text = strings.ReplaceAll(text, "tools/$kind", "tools/"+tier.Name)
		for _, name := range script.FindAllString(text, -1) {
			info, err := os.Stat(filepath.Join(root, name))
			if found[name] || err != nil {
				continue
			}
			found[name] = true
			if data, err := os.ReadFile(filepath.Join(root, name)); err == nil && !info.IsDir() {
				look(comment.ReplaceAllString(string(data), ""))
			}
		}
	}
	look(recipe(t, tier))
	return slices.Sorted(maps.Keys(found))
}

// recipe returns the commands that a tier's command runs through make.
func recipe(t *testing.T, tier Tier) string {
	t.Helper()
	cmd := exec.Command("sh", "-c", strings.ReplaceAll(tier.Run, "make ", "make -n "))
	cmd.Dir = root
	// $GOTEST of the caller is no part of the tier.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(s string) bool {
		return strings.HasPrefix(s, "GOTEST=") || strings.HasPrefix(s, "MAKE") || strings.HasPrefix(s, "MFLAGS=")
	})
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("make -n: %v", err)
	}
	return string(out)
}

// compares checks the packages that a tier declares against those that its command names.
func compares(t *testing.T, tier Tier, tests []string) {
	t.Helper()
	for _, named := range regexp.MustCompile(` \./((?:cmd|internal|record)[a-z0-9/]*)`).FindAllStringSubmatch(recipe(t, tier), -1) {
		if folder := strings.TrimSuffix(named[1], "/"); !slices.ContainsFunc(tests, func(dir string) bool { return within(dir, []string{folder}) }) {
			t.Errorf("its command tests %s, which packages: does not print", folder)
		}
	}
}
