package journald

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"
)

// Entry is a message of a unit.
type Entry struct {
	Time       time.Time
	Unit       string // one of the filter
	Identifier string // of the process, such as kubelet or systemd
	PID        string
	Message    string
}

// Filter selects entries. Zero times do not bound them.
type Filter struct {
	Since, Until time.Time
	Units        []string // such as kubelet.service
}

func (f *Filter) selects(at time.Time) bool {
	return (f.Since.IsZero() || !at.Before(f.Since)) && (f.Until.IsZero() || !at.After(f.Until))
}

// Problems is what could not be read.
type Problems struct {
	Damaged   int64 // objects
	Undecoded int64 // messages with a compression that is not supported
	First     error // nil: none
}

// Add adds the problems of another file.
func (p *Problems) Add(other Problems) {
	p.Damaged += other.Damaged
	p.Undecoded += other.Undecoded
	if p.First == nil {
		p.First = other.First
	}
}

func (p *Problems) note(err error) {
	if errors.Is(err, errUndecoded) {
		p.Undecoded++
	} else {
		p.Damaged++
	}
	if p.First == nil {
		p.First = err
	}
}

// Span returns the times of the first and the last entry of a file.
func Span(from io.ReaderAt, size int64) (head, tail time.Time, err error) {
	h, err := (&file{from: from, size: uint64(max(0, size)), blocks: map[uint64][]byte{}}).readHeader()
	return h.head, h.tail, err
}

// maxDamaged ends a file in which nothing makes sense any more.
const maxDamaged = 10_000

// errTooDamaged is why the rest of a file is not read.
var errTooDamaged = errors.New("too many damaged objects")

// Read reports the entries of a file in its order. It returns an error if the file cannot be read
// at all, if the context ended, or that of report.
func Read(ctx context.Context, from io.ReaderAt, size int64, filter Filter, report func(Entry) error) (Problems, error) {
	r := &reader{
		file: file{from: from, size: uint64(max(0, size)), blocks: map[uint64][]byte{}}, filter: filter, report: report,
		fields: map[uint64]field{},
	}
	var err error
	if r.header, err = r.readHeader(); err != nil {
		return Problems{}, err
	}
	err = r.arrays(ctx)
	if r.zstd != nil {
		r.zstd.Close()
	}
	if errors.Is(err, errTooDamaged) {
		err = nil // it is counted
	}
	return r.problems, err
}

type reader struct {
	file

	header   header
	filter   Filter
	report   func(Entry) error
	fields   map[uint64]field // those that entries share; others are empty
	zstd     *zstd.Decoder
	problems Problems
}

// arrays reads the chain of entry arrays.
func (r *reader) arrays(ctx context.Context) error {
	last := uint64(0)
	for offset := r.header.array; offset != 0; {
		if offset <= last {
			r.problems.note(fmt.Errorf("the entry array at offset %d does not lead forward", last))
			return nil
		}
		last = offset
		o, err := r.object(offset, typeEntryArray, 24)
		if err != nil {
			r.problems.note(err)
			return nil
		}
		next, err := r.at(offset+objectHeader, 8)
		if err != nil {
			return err
		}
		if err := r.array(ctx, o); err != nil {
			return err
		}
		offset = binary.LittleEndian.Uint64(next)
	}
	return nil
}

// perRead is how many items of an array are read at once.
const perRead = 4096

func (r *reader) array(ctx context.Context, o object) error {
	width := uint64(8)
	if r.header.compact {
		width = 4
	}
	for at, end := o.offset+24, o.offset+o.size; at+width <= end; {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		items, err := r.at(at, min(end-at, perRead*width)/width*width)
		if err != nil {
			r.problems.note(err)
			return nil
		}
		for ; len(items) > 0; items = items[width:] {
			offset := number(items[:width])
			if offset == 0 {
				return nil // the rest is not used yet
			}
			if err := r.entry(offset); err != nil {
				return err
			}
		}
		at += perRead * width
	}
	return nil
}

func number(raw []byte) uint64 {
	if len(raw) == 4 {
		return uint64(binary.LittleEndian.Uint32(raw))
	}
	return binary.LittleEndian.Uint64(raw)
}

const (
	entryItems = 64 // where the items of an entry begin
	maxItems   = 1024
)

// entry reads an entry, and reports it if the filter selects it.
func (r *reader) entry(offset uint64) error {
	o, err := r.object(offset, typeEntry, entryItems)
	if err != nil {
		return r.damaged(err)
	}
	width, stride := uint64(8), uint64(16)
	if r.header.compact {
		width, stride = 4, 4
	}
	raw, err := r.at(offset, min(o.size, entryItems+maxItems*stride))
	if err != nil {
		return r.damaged(err)
	}
	at := micros(binary.LittleEndian.Uint64(raw[24:]))
	if !r.filter.selects(at) {
		return nil
	}
	var offsets []uint64
	for items := raw[entryItems:]; uint64(len(items)) >= stride; items = items[stride:] {
		offsets = append(offsets, number(items[:width]))
	}
	unit, err := r.unit(offsets)
	if err != nil || unit == "" {
		return err
	}
	e := Entry{Time: at, Unit: unit}
	if err := r.fill(&e, offsets); err != nil {
		return err
	}
	return r.report(e)
}

func (r *reader) damaged(err error) error {
	if r.problems.note(err); r.problems.Damaged > maxDamaged {
		return errTooDamaged
	}
	return nil
}

// unit returns the unit of an entry, or the one that systemd writes about, if the filter has it.
func (r *reader) unit(offsets []uint64) (string, error) {
	for _, offset := range offsets {
		f, err := r.field(offset)
		if err != nil {
			if err := r.damaged(err); err != nil {
				return "", err
			}
			continue
		}
		if (f.name == "_SYSTEMD_UNIT" || f.name == "UNIT") && slices.Contains(r.filter.Units, f.value) {
			return f.value, nil
		}
	}
	return "", nil
}

// fill reads the other fields of an entry that is reported.
func (r *reader) fill(e *Entry, offsets []uint64) error {
	for _, offset := range offsets {
		f, err := r.data(offset)
		switch {
		case errors.Is(err, errUndecoded):
			e.Message = "[this message is not decoded: " + err.Error() + "]"
		case err != nil:
			continue // unit has counted it
		}
		switch f.name {
		case "MESSAGE":
			e.Message = f.value
		case "SYSLOG_IDENTIFIER":
			e.Identifier = f.value
		case "_PID":
			e.PID = f.value
		case "_COMM":
			if e.Identifier == "" {
				e.Identifier = f.value
			}
		}
	}
	return nil
}

// maxFields bounds the fields that are remembered.
const maxFields = 1 << 16

// field returns a field that may be that of a unit. It is remembered, others as empty.
func (r *reader) field(offset uint64) (field, error) {
	if f, ok := r.fields[offset]; ok {
		return f, nil
	}
	f, err := r.data(offset)
	if err != nil && !errors.Is(err, errUndecoded) {
		return field{}, err
	}
	if err != nil {
		r.problems.note(err)
	}
	if f.name != "_SYSTEMD_UNIT" && f.name != "UNIT" {
		f = field{}
	}
	if len(r.fields) >= maxFields {
		clear(r.fields)
	}
	r.fields[offset] = f
	return f, nil
}
