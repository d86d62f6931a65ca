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

// Preset returns the text of a preset.
func Preset(name string) (source []byte, ok bool) {
	source, err := presetFiles.ReadFile("presets/" + name + ".yaml")
	return source, err == nil
}
