package packages

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The tags of an rpm header that a repacked package changes or needs.
const (
	tagSignatures     = 62 // the region of a signature header
	tagImmutable      = 63 // the region of a package header
	tagSHA256         = 273
	tagSize           = 1000
	tagFileSizes      = 1028
	tagFileModes      = 1030
	tagFileMtimes     = 1034
	tagFileDigests    = 1035
	tagFileLinks      = 1036
	tagFileFlags      = 1037
	tagFileUsers      = 1039
	tagFileGroups     = 1040
	tagFileDevices    = 1095
	tagFileInodes     = 1096
	tagDirIndexes     = 1116
	tagBaseNames      = 1117
	tagDirNames       = 1118
	tagPayloadFormat  = 1124
	tagCompressor     = 1125
	tagPayloadFlags   = 1126
	tagLongFileSizes  = 5008
	tagDigestAlgo     = 5011
	tagPayloadDigest  = 5092
	tagPayloadAlgo    = 5093
	tagPayloadAlt     = 5097
	tagPackageFormat  = 5114 // absent in packages of format 4
	maxHeaderSize     = 64 << 20
	headerEntrySize   = 16
	regionTrailerSize = 16
)

// The types of the values in an rpm header.
const (
	typeInt16       = 3
	typeInt32       = 4
	typeInt64       = 5
	typeString      = 6
	typeBinary      = 7
	typeStringArray = 8
	typeI18nString  = 9
)

var headerMagic = []byte{0x8e, 0xad, 0xe8, 0x01, 0, 0, 0, 0}

// header has the entries of an rpm header, by tag.
type header map[uint32]entry

// entry is one value, in the big-endian form of the file.
type entry struct {
	kind, count uint32
	data        []byte
}

// parseHeader parses a header without its magic: the counts, the index, the data.
func parseHeader(text []byte) (header, error) {
	if len(text) < 8 {
		return nil, errors.New("the header is too short")
	}
	entries, size := int(binary.BigEndian.Uint32(text)), int(binary.BigEndian.Uint32(text[4:]))
	if entries > maxHeaderSize/headerEntrySize || size > maxHeaderSize || len(text) < 8+entries*headerEntrySize+size {
		return nil, errors.New("the header is truncated")
	}
	index, data := text[8:8+entries*headerEntrySize], text[8+entries*headerEntrySize:][:size]
	h := header{}
	for ; len(index) > 0; index = index[headerEntrySize:] {
		tag, offset := binary.BigEndian.Uint32(index), binary.BigEndian.Uint32(index[8:])
		e := entry{kind: binary.BigEndian.Uint32(index[4:]), count: binary.BigEndian.Uint32(index[12:])}
		if tag == tagImmutable || tag == tagSignatures {
			continue
		}
		if int64(offset) > int64(len(data)) {
			return nil, fmt.Errorf("tag %d is outside of the header", tag)
		}
		length, ok := e.length(data[offset:])
		if !ok {
			return nil, fmt.Errorf("tag %d is truncated", tag)
		}
		e.data = data[offset:][:length]
		h[tag] = e
	}
	return h, nil
}

// length returns the length of a value at the start of data.
func (e entry) length(data []byte) (length int, ok bool) {
	switch e.kind {
	case typeString, typeStringArray, typeI18nString:
		for range e.count {
			end := bytes.IndexByte(data[length:], 0)
			if end < 0 {
				return 0, false
			}
			length += end + 1
		}
		return length, true
	}
	size := int64(e.count) * int64(e.width())
	return int(size), size <= int64(len(data))
}

// width is the size of one number, which is also its alignment.
func (e entry) width() int {
	switch e.kind {
	case typeInt16:
		return 2
	case typeInt32:
		return 4
	case typeInt64:
		return 8
	}
	return 1
}

// bytes returns the header as in a file, with a region over all entries.
func (h header) bytes(region uint32) []byte {
	tags := make([]uint32, 0, len(h))
	for tag := range h {
		tags = append(tags, tag)
	}
	slices.Sort(tags)
	var index, data []byte
	for _, tag := range tags {
		e := h[tag]
		for len(data)%e.width() != 0 {
			data = append(data, 0)
		}
		index = appendNumbers(index, tag, e.kind, uint32(len(data)), e.count)
		data = append(data, e.data...)
	}
	count := uint32(len(h) + 1)
	first := appendNumbers(nil, region, typeBinary, uint32(len(data)), regionTrailerSize)
	// The trailer points back over the index.
	data = appendNumbers(data, region, typeBinary, -count*headerEntrySize, regionTrailerSize)
	out := appendNumbers(slices.Clone(headerMagic), count, uint32(len(data)))
	return slices.Concat(out, first, index, data)
}

func appendNumbers(to []byte, numbers ...uint32) []byte {
	for _, n := range numbers {
		to = binary.BigEndian.AppendUint32(to, n)
	}
	return to
}

// texts returns an array of strings, or nil.
func (h header) texts(tag uint32) []string {
	e, known := h[tag]
	if !known || len(e.data) == 0 {
		return nil
	}
	return strings.Split(string(e.data[:len(e.data)-1]), "\x00")
}

func (h header) setTexts(tag uint32, texts []string) {
	h[tag] = entry{kind: typeStringArray, count: uint32(len(texts)), data: []byte(strings.Join(texts, "\x00") + "\x00")}
}

func (h header) setText(tag uint32, text string) {
	h[tag] = entry{kind: typeString, count: 1, data: append([]byte(text), 0)}
}

// numbers returns an array of numbers, whatever their size, or nil.
func (h header) numbers(tag uint32) []uint64 {
	e, known := h[tag]
	if !known {
		return nil
	}
	out := make([]uint64, 0, e.count)
	for data := e.data; len(data) >= e.width(); data = data[e.width():] {
		switch e.kind {
		case typeInt16:
			out = append(out, uint64(binary.BigEndian.Uint16(data)))
		case typeInt32:
			out = append(out, uint64(binary.BigEndian.Uint32(data)))
		case typeInt64:
			out = append(out, binary.BigEndian.Uint64(data))
		default:
			return nil
		}
	}
	return out
}

// setNumbers keeps the type of a tag that the header has, and else uses 32 bits.
func (h header) setNumbers(tag uint32, numbers ...uint64) {
	e := entry{kind: cmp.Or(h[tag].kind, typeInt32), count: uint32(len(numbers))}
	for _, n := range numbers {
		wide := binary.BigEndian.AppendUint64(nil, n)
		e.data = append(e.data, wide[len(wide)-e.width():]...)
	}
	h[tag] = e
}
