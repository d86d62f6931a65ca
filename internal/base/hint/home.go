package hint

import "strings"

// Home is the address of the project, for links. The Makefile's HOME_URL replaces it (make build).
var Home = "https://github.com/tarelab/tare"

// File is the address of a file of the project. path is relative to the top of its tree. GitHub serves files below raw;
// another Home, such as file:///home/me/tare, has the tree below it.
func File(path string) string {
	if strings.HasPrefix(Home, "https://github.com/") {
		return Home + "/raw/main/" + path
	}
	return strings.TrimSuffix(Home, "/") + "/" + path
}

// Schema is the address of a JSON schema.
func Schema(name string) string { return File("docs/schema/" + name + ".json") }
