// Command site checks the site that MkDocs made: every link and anchor leads somewhere, and no page reads anything over a
// network. tools/site.sh runs it.
package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: site DIR")
		os.Exit(2)
	}
	c, err := inspect(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
	for _, e := range c.errors {
		fmt.Fprintln(os.Stderr, e)
	}
	fmt.Printf("%d pages, %d links\n", c.pages, c.links)
	if len(c.errors) > 0 {
		fmt.Fprintf(os.Stderr, "site: %d links lead nowhere\n", len(c.errors))
		os.Exit(1)
	}
}
