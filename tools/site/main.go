// Command site writes the pages of the static site as Markdown, from the files of the project and from what tare
// prints, and checks the site that MkDocs made of them. tools/site.sh runs both.
//
//	site pages TOP TARE HOME OUT   pages, files beside them and the navigation, in English and Chinese
//	site check DIR HOME            every link and anchor leads somewhere; no page reads anything over a network
package main

import (
	"errors"
	"fmt"
	"os"
)

const usage = "usage: site pages TOP TARE HOME OUT | site check DIR HOME"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 5 && args[0] == "pages":
		s, err := open(args[1], args[2], args[3], args[4])
		if err != nil {
			return err
		}
		return s.write()
	case len(args) == 3 && args[0] == "check":
		c, err := inspect(args[1], args[2])
		if err != nil {
			return err
		}
		for _, e := range c.errors {
			fmt.Fprintln(os.Stderr, e)
		}
		fmt.Printf("%d pages, %d links, %d schemas\n", c.pages, c.links, c.schemas)
		if len(c.errors) > 0 {
			return fmt.Errorf("%d links lead nowhere", len(c.errors))
		}
		return nil
	}
	return errors.New(usage)
}
