package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/catalog"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/record"
)

// findExperiment reads a preset, a file or standard input. file is the name of the file in errors.
func findExperiment(name string) (file string, src []byte, err error) {
	if name == "-" {
		src, err = readBounded(os.Stdin, "standard input")
		if err != nil {
			err = &usageError{fmt.Errorf("read the experiment: %w", err), ""}
		}
		return "stdin", src, err
	}
	if src, ok := experiment.Preset(name); ok {
		return name + ".yaml", src, nil
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return "", nil, notAnExperiment(name)
	}
	src, err = readExperiment(name)
	switch {
	case err == nil:
		return name, src, nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", nil, &usageError{hint.New(fmt.Errorf("read the experiment: %w", err), "tare presets lists the experiments that need no file"), ""}
	case strings.Contains(name, "/"), strings.HasSuffix(name, ".yaml"), strings.HasSuffix(name, ".yml"):
		return "", nil, &usageError{fmt.Errorf("no experiment file %s", name), "tare presets lists the experiments that need no file"}
	}
	err = fmt.Errorf("no preset and no file %q%s", name, likePreset(name))
	return "", nil, &usageError{err, cmp.Or(flagFor(name), "tare presets")}
}

// largestExperiment bounds the bytes that are read. It is above the limit of package experiment, whose
// error is better.
const largestExperiment = 2 << 20 // bytes

// readExperiment reads an experiment file, up to largestExperiment.
func readExperiment(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readBounded(f, name)
}

func readBounded(r io.Reader, name string) ([]byte, error) {
	src, err := io.ReadAll(io.LimitReader(r, largestExperiment+1))
	if err == nil && len(src) > largestExperiment {
		err = fmt.Errorf("%s has more than %d bytes and is not an experiment", name, largestExperiment)
	}
	return src, err
}

// notAnExperiment is the error about a directory in the place of an experiment.
func notAnExperiment(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, record.RecordFile)); err == nil {
		return &usageError{fmt.Errorf("%s is a result, and no experiment", dir), "tare run --continue " + dir + " adds to it; tare report " + dir + " prints it"}
	}
	return &usageError{fmt.Errorf("%s is a directory, and no experiment", dir), "tare run --scratch " + dir + " measures in it; tare presets lists the experiments"}
}

// flagFor guesses the flag that a user forgot before a word in the place of the experiment; "": none.
func flagFor(word string) string {
	_, err := experiment.ParseDuration(word)
	switch {
	case err == nil:
		return "--budget " + word
	case strings.Contains(word, "="):
		return "--set " + word
	case slices.Contains(catalog.Words().Arms, word):
		return "--arms host," + word
	}
	return ""
}

// likePreset is the end of the error about an unknown preset: the presets that begin with the word, or
// the nearest one.
func likePreset(word string) string {
	for _, other := range [][2]string{{"mariadb", "mysql"}, {"percona", "mysql"}, {"postgresql", "postgres"}, {"pg", "postgres"}, {"valkey", "redis"}, {"k8s", "kubernetes"}, {"neighbours", "colocation"}, {"neighbors", "colocation"}, {"disk", "storage"}} {
		word = strings.ReplaceAll(word, other[0], other[1])
	}
	var all []string
	for _, p := range experiment.Presets() {
		if strings.HasPrefix(p, word+"-") || strings.HasSuffix(p, "-"+word) || p == word {
			all = append(all, p)
		}
	}
	if len(all) > 1 {
		return "; there are " + strings.Join(all, ", ")
	}
	return hint.DidYouMean(word, experiment.Presets())
}
