package serve

import (
	"context"
	"fmt"
	"strconv"

	"github.com/tarelab/tare/internal/databases/clickhouse"
)

// hitsFiller lets ClickHouse fill the table clickhouse.Hits itself.
type hitsFiller struct{ clickhouse.Hits }

func (f hitsFiller) params() map[string]string {
	return map[string]string{"load": clickhouse.HitsTable, "rows": strconv.Itoa(f.Rows)}
}

func (hitsFiller) tool() (name, version string) { return "", "" }

// size is twice that of the table, because a merge writes a second copy.
func (f hitsFiller) size() int64 { return HitsBytes(f.Hits) }

// HitsBytes is an upper estimate of the disk space of the table of hits.
func HitsBytes(h clickhouse.Hits) int64 { return 2 * h.Bytes() }

func (hitsFiller) connections() int { return 1 }

func (f hitsFiller) fill(ctx context.Context, b *building) error {
	c, err := Connect(b.address())
	if err != nil {
		return err
	}
	defer c.Close()
	for _, s := range f.Statements() {
		if err := c.Exec(ctx, s); err != nil {
			return fmt.Errorf("fill the table %s: %w", clickhouse.HitsTable, err)
		}
	}
	return nil
}
