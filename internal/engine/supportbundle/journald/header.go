package journald

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// The flags of a file that a reader must support.
const (
	flagXZ uint32 = 1 << iota
	flagLZ4
	flagKeyedHash // only matters for the lookup of fields
	flagZstd
	flagCompact

	supported = flagXZ | flagLZ4 | flagKeyedHash | flagZstd | flagCompact
)

const (
	signature  = "LPKSHHRH"
	headerSize = 208 // of the oldest format
)

// ErrFormat is the error of a file that is no journal, or of a later format.
var ErrFormat = errors.New("not a supported journal file")

// header is the part of a file's header that a reader needs.
type header struct {
	compact    bool
	entries    uint64
	array      uint64 // the first entry array
	head, tail time.Time
}

func (f *file) readHeader() (header, error) {
	raw, err := f.at(0, headerSize)
	if err != nil {
		return header{}, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if string(raw[:8]) != signature {
		return header{}, fmt.Errorf("%w: it has another signature", ErrFormat)
	}
	flags := binary.LittleEndian.Uint32(raw[12:])
	if unknown := flags &^ supported; unknown != 0 {
		return header{}, fmt.Errorf("%w: incompatible flags %#x", ErrFormat, unknown)
	}
	return header{
		compact: flags&flagCompact != 0,
		entries: binary.LittleEndian.Uint64(raw[152:]),
		array:   binary.LittleEndian.Uint64(raw[176:]),
		head:    micros(binary.LittleEndian.Uint64(raw[184:])),
		tail:    micros(binary.LittleEndian.Uint64(raw[192:])),
	}, nil
}

// micros converts a time of the journal. One beyond the year 9999 is damaged.
func micros(us uint64) time.Time {
	const most = 253402300799 * 1e6
	return time.UnixMicro(int64(min(us, most))).UTC()
}
