package journal

import (
	"fmt"

	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// Append writes a record; when it returns without an error, the record is on the disk. After a failed write the journal refuses everything, since what is on
// the disk is not known: open it again. A record that is refused beforehand (too large, no room ahead) changes nothing.
func (j *Journal) Append(r node.Record) error {
	if j.broken != nil {
		return j.broken
	}
	line, r, err := recordLine(r)
	if err != nil {
		return err
	}
	if err := j.room(r.Kind, int64(len(line))); err != nil {
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

// room sees to it that the way back can always be written down: a record of the way forward is refused while there still is room for those.
func (j *Journal) room(kind node.Kind, length int64) error {
	end, most := j.size+length, int64(MaxSize)
	if forward(kind) {
		most -= undoRoom
	}
	if end > most {
		return node.ManualIntervention("JournalFull", nil, "say refit cancel, which puts the host back and ends this journal; a new order begins a new one",
			"the journal %s has grown to %d bytes and takes no more", j.path, j.size)
	}
	if !forward(kind) || j.held-end >= least {
		return nil
	}
	to := min(end+ahead, MaxSize)
	if err := hold(j.file, end, to); err != nil {
		return durable.Explain(err, "holding disk for the journal", j.path)
	}
	j.held = to
	return nil
}

// forward tells the records that lead to more changes from those that end a step or lead back.
func forward(kind node.Kind) bool {
	return kind == node.Opened || kind == node.Ordered || kind == node.Started
}

func (j *Journal) stop(err error) error {
	j.failed = true
	j.broken = fmt.Errorf("%w after an error: %w", ErrClosed, err)
	return durable.Explain(err, "writing to the journal", j.path)
}
