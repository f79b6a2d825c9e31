package journal

import (
	"fmt"

	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// Append writes a record; when it returns nil, the record is on disk. After a failed write the
// journal refuses every record, because the content on disk is unknown: open it again. A record
// that is refused beforehand (too large, no disk space) changes nothing.
func (j *Journal) Append(r node.Record) error {
	if j.broken != nil {
		return j.broken
	}
	line, r, err := recordLine(r)
	if err != nil {
		return err
	}
	if err := j.reserve(r.Kind, int64(len(line))); err != nil {
		return err
	}
	if _, err := j.file.WriteAt(line, j.size); err != nil {
		return j.stop(err)
	}
	if err := durable.Sync(j.file); err != nil {
		return j.stop(err)
	}
	j.size += int64(len(line))
	j.records = append(j.records, r)
	return nil
}

// reserve ensures that a rollback can always be recorded: a forward record is refused while there
// is still space for those.
func (j *Journal) reserve(kind node.Kind, length int64) error {
	end, limit := j.size+length, int64(MaxSize)
	if forward(kind) {
		limit -= reservedForUndo
	}
	if end > limit {
		return node.ManualIntervention("JournalFull", nil,
			"Run `refit abort`, which rolls the host back and ends this journal; the next upgrade starts a new one",
			"the journal %s is full: %d bytes", j.path, j.size)
	}
	if !forward(kind) || j.allocated-end >= minPreallocated {
		return nil
	}
	to := min(end+preallocated, MaxSize)
	if err := preallocate(j.file, end, to); err != nil {
		return durable.Explain(err, "allocate disk space for the journal", j.path)
	}
	j.allocated = to
	return nil
}

// forward reports whether a record leads to more changes, and not to the end of a step or to a
// rollback.
func forward(kind node.Kind) bool {
	return kind == node.Opened || kind == node.Ordered || kind == node.Started
}

func (j *Journal) stop(err error) error {
	j.failed = true
	j.broken = fmt.Errorf("%w after an error: %w", ErrClosed, err)
	return durable.Explain(err, "write to the journal", j.path)
}
