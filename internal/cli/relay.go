package cli

import (
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/tarelab/tare/internal/report/export"
)

// longestLine is how many bytes of a line are buffered.
const longestLine = 64 << 10

// relayed is a writer for the output of another program or host. It writes whole lines without
// control characters, after a prefix; a line above longestLine in parts. Several goroutines may
// write.
type relayed struct {
	to     io.Writer
	prefix string

	mu   sync.Mutex
	part []byte
}

func (p *relayed) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.part = append(p.part, b...)
	for {
		end := slices.Index(p.part, '\n')
		if end < 0 {
			if len(p.part) > longestLine {
				p.rest()
			}
			return len(b), nil
		}
		if _, err := fmt.Fprintf(p.to, "%s%s\n", p.prefix, export.Clean(string(p.part[:end]))); err != nil {
			return 0, err
		}
		p.part = p.part[end+1:]
	}
}

// flush writes the last line if it has no line end.
func (p *relayed) flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rest()
}

func (p *relayed) rest() {
	if len(p.part) > 0 {
		fmt.Fprintf(p.to, "%s%s\n", p.prefix, export.Clean(string(p.part)))
		p.part = nil
	}
}
