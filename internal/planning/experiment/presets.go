package experiment

import (
	"cmp"
	"embed"
	"strings"
)

//go:embed presets/*.yaml
var presetFiles embed.FS

// Quick is the preset of `tare run` without arguments.
const Quick = "quick"

// replaced are the presets of earlier versions with the presets that took their place.
var replaced = map[string]string{"thorough": Quick, "nfs-fio": "storage", "mysql-nfs": "storage"}

// Presets lists the names of the experiments that come with tare, sorted.
func Presets() []string {
	entries, _ := presetFiles.ReadDir("presets") // embedded: it is there
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// Preset returns a preset under its present name: a name of an earlier version finds the
// preset that took its place.
func Preset(name string) (present string, source []byte, ok bool) {
	present = cmp.Or(replaced[name], name)
	source, err := presetFiles.ReadFile("presets/" + present + ".yaml")
	return present, source, err == nil
}
