package journald

import (
	"encoding/binary"
	"fmt"
	"io"
)

// The types of objects.
const (
	typeData       = 1
	typeEntry      = 3
	typeEntryArray = 6
)

// object is an object of a file.
type object struct {
	flags  byte
	offset uint64
	size   uint64 // with its header
}

const objectHeader = 16

// file reads parts of a journal file, in blocks: fields are small and next to each other.
type file struct {
	from   io.ReaderAt
	size   uint64
	blocks map[uint64][]byte
}

const (
	blockSize = 64 << 10
	maxBlocks = 64
)

// at returns bytes of the file.
func (f *file) at(offset, length uint64) ([]byte, error) {
	if offset > f.size || length > f.size-offset {
		return nil, fmt.Errorf("offset %d with %d bytes is beyond the end", offset, length)
	}
	out := make([]byte, 0, length)
	for uint64(len(out)) < length {
		at := offset + uint64(len(out))
		block, err := f.block(at / blockSize)
		if err != nil {
			return nil, err
		}
		skip := at % blockSize
		if skip >= uint64(len(block)) {
			return nil, io.ErrUnexpectedEOF // the file became shorter
		}
		out = append(out, block[skip:min(uint64(len(block)), skip+length-uint64(len(out)))]...)
	}
	return out, nil
}

func (f *file) block(number uint64) ([]byte, error) {
	if block, ok := f.blocks[number]; ok {
		return block, nil
	}
	block := make([]byte, blockSize)
	n, err := f.from.ReadAt(block, int64(number*blockSize)) // at has compared it with the size
	if err != nil && err != io.EOF {
		return nil, err
	}
	for other := range f.blocks { // any of them: a chain seldom comes back
		if len(f.blocks) < maxBlocks {
			break
		}
		delete(f.blocks, other)
	}
	f.blocks[number] = block[:n]
	return block[:n], nil
}

// object returns the object of a type at an offset.
func (f *file) object(offset uint64, kind byte, least uint64) (object, error) {
	if offset < headerSize || offset%8 != 0 {
		return object{}, fmt.Errorf("no object can be at offset %d", offset)
	}
	raw, err := f.at(offset, objectHeader)
	if err != nil {
		return object{}, err
	}
	o := object{flags: raw[1], offset: offset, size: binary.LittleEndian.Uint64(raw[8:])}
	switch {
	case raw[0] != kind:
		return object{}, fmt.Errorf("the object at offset %d has type %d, want %d", offset, raw[0], kind)
	case o.size < least || o.size > f.size-offset:
		return object{}, fmt.Errorf("the object at offset %d has a size of %d bytes", offset, o.size)
	}
	return o, nil
}
