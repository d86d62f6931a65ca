package hint

import (
	"regexp"
	"strings"
)

// Home is the address of the project, for links. The Makefile's HOME_URL replaces it (make build).
var Home = "https://github.com/tarelab/tare"

// file is the address of a file of the project. path is relative to the top of its tree. GitHub serves files below raw;
// another Home, such as file:///home/me/tare, has the tree below it.
func file(path string) string {
	if strings.HasPrefix(Home, "https://github.com/") {
		return Home + "/raw/main/" + path
	}
	return strings.TrimSuffix(Home, "/") + "/" + path
}

// pageURL is the address of a page of the documentation, which is on no host. path is that of the page in the tree.
func pageURL(path string) string { return strings.TrimSuffix(Home, "/") + "/blob/main/" + path }

// page matches a page in a text, but not the end of an address.
var page = regexp.MustCompile(`(^|[ (])(docs/[a-z]+\.md)`)

// WithPages gives the pages that a text names their address.
func WithPages(text string) string {
	return page.ReplaceAllStringFunc(text, func(m string) string {
		i := strings.Index(m, "docs/")
		return m[:i] + pageURL(m[i:])
	})
}

// Schema is the address of a JSON schema.
func Schema(name string) string { return file("docs/schema/" + name + ".json") }
