package cli

import (
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/tarelab/tare/internal/report/export"
)

// longestLine is how much of a line of a node is waited for, in bytes.
const longestLine = 64 << 10

// relayed writes whole lines that another program or host says, made harmless, with something in
// front; a longer one in parts.
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

// flush writes the last line where it has no end.
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
