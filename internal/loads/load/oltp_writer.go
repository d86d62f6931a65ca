package load

// When the write-ahead log is copied into the database: SQLite would do it after
// 1000 pages, about every hundred transactions, wherever in a window that is.
const (
	checkpointEvery  = 128 // transactions after a thaw
	checkpointBlocks = 4   // of so many blocks one begins with it
)

// writer is the turn of the writers, who also see to the checkpoints. Those come
// at the first transaction after a thaw in every fourth block, as its seed says,
// and then after every so many transactions: at the same ones in all arms of a
// block, and about as often as without a rotation.
type writer struct {
	fifoLock
	thaw int64
	done int // transactions since the thaw
}

func newWriter() *writer { return &writer{fifoLock: newFIFOLock()} }

// due says that the next transaction of this sequence begins with a checkpoint.
// Its caller has the turn.
func (w *writer) due(s *Sequence) bool {
	if s.thaw > w.thaw {
		w.thaw, w.done = s.thaw, 1
		return s.seed%checkpointBlocks == 0
	}
	w.done++
	return w.done%checkpointEvery == 0
}
