package experiment

import (
	"embed"
	"strings"
)

//go:embed presets/*.yaml
var presetFiles embed.FS

// Quick is the preset of `tare run` without arguments.
const Quick = "quick"

// Presets lists the names of the experiments that come with tare, sorted.
func Presets() []string {
	entries, _ := presetFiles.ReadDir("presets") // embedded: it is there
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// Preset returns the source of a preset.
func Preset(name string) ([]byte, bool) {
	src, err := presetFiles.ReadFile("presets/" + name + ".yaml")
	return src, err == nil
}
