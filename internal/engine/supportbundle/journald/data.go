package journald

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// The flags of a compressed object.
const (
	objectXZ byte = 1 << iota
	objectLZ4
	objectZstd
)

// maxData bounds one field. The rest of a longer one is dropped.
const maxData = 1 << 20

// maxCompressed bounds what is decompressed.
const maxCompressed = 16 << 20

// errUndecoded is the error of a field with a compression that is not supported.
var errUndecoded = errors.New("xz is not supported")

// field is a field of an entry.
type field struct {
	name, value string
}

// data returns the field at an offset.
func (r *reader) data(offset uint64) (field, error) {
	start := uint64(64)
	if r.header.compact {
		start = 72
	}
	o, err := r.object(offset, typeData, start)
	if err != nil {
		return field{}, err
	}
	limit := uint64(maxData)
	if o.flags&(objectXZ|objectLZ4|objectZstd) != 0 {
		limit = maxCompressed
	}
	payload, err := r.at(offset+start, min(o.size-start, limit))
	if err != nil {
		return field{}, err
	}
	if payload, err = r.decompress(o.flags, payload); err != nil {
		return field{}, err
	}
	name, value, ok := bytes.Cut(payload[:min(len(payload), maxData)], []byte("="))
	if !ok {
		return field{}, fmt.Errorf("the field at offset %d has no name", offset)
	}
	return field{string(name), string(value)}, nil
}

func (r *reader) decompress(flags byte, payload []byte) ([]byte, error) {
	switch {
	case flags&objectXZ != 0:
		return nil, errUndecoded
	case flags&objectLZ4 != 0:
		if len(payload) < 8 {
			return nil, errDamagedLZ4
		}
		return lz4(payload[8:], min(binary.LittleEndian.Uint64(payload), maxData))
	case flags&objectZstd != 0:
		return r.unzstd(payload)
	}
	return payload, nil
}

// unzstd returns the begin of a compressed field, which may be longer than maxData.
func (r *reader) unzstd(payload []byte) ([]byte, error) {
	if r.zstd == nil {
		decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, err
		}
		r.zstd = decoder
	}
	if err := r.zstd.Reset(bytes.NewReader(payload)); err != nil {
		return nil, err
	}
	out := bytes.NewBuffer(nil)
	if _, err := out.ReadFrom(io.LimitReader(r.zstd, maxData)); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
