package serve

import (
	"context"
	"fmt"
	"strconv"

	"github.com/tarelab/tare/internal/service"
)

// hitsFiller lets ClickHouse fill a table by itself.
type hitsFiller struct{ service.ClickHouseHits }

func (f hitsFiller) params() map[string]string {
	return map[string]string{"load": service.HitsTable, "rows": strconv.Itoa(f.Rows)}
}

func (hitsFiller) tool() (name, version string) { return "", "" }

// size is that of the table before and after it is merged.
func (f hitsFiller) size() int64 { return 2 * f.Bytes() }

func (hitsFiller) connections() int { return 1 }

func (f hitsFiller) fill(ctx context.Context, b *building) error {
	c, err := Connect(b.address())
	if err != nil {
		return err
	}
	defer c.Close()
	for _, s := range f.Statements() {
		if err := c.Exec(ctx, s); err != nil {
			return fmt.Errorf("fill the table %s: %w", service.HitsTable, err)
		}
	}
	return nil
}
