package load

// Intervals of checkpoints, which copy the write-ahead log into the database. SQLite's own rule,
// 1000 pages or about a hundred transactions, would put them anywhere in a window.
const (
	checkpointEvery  = 128 // transactions, counted from the thaw
	checkpointBlocks = 4   // one block in four also begins with a checkpoint
)

// writer is the lock of writing transactions and decides when a checkpoint is due: at the first
// transaction after a thaw in every fourth block, chosen by the block's seed, and then every
// checkpointEvery transactions. All arms of a block have checkpoints at the same transactions, and
// about as many as without a rotation.
type writer struct {
	fifoLock
	thaw int64
	done int // writing transactions since the thaw
}

func newWriter() *writer { return &writer{fifoLock: newFIFOLock()} }

// due is true if the next transaction begins with a checkpoint. The caller holds the lock.
func (w *writer) due(s *Sequence) bool {
	if s.thaw > w.thaw {
		w.thaw, w.done = s.thaw, 1
		return s.seed%checkpointBlocks == 0
	}
	w.done++
	return w.done%checkpointEvery == 0
}
