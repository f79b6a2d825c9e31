package journald

import (
	"errors"
)

var errDamagedLZ4 = errors.New("damaged LZ4 block")

// lz4 decodes a block of LZ4 up to a limit.
func lz4(in []byte, limit uint64) ([]byte, error) {
	out := make([]byte, 0, min(limit, 4*uint64(len(in))))
	for len(in) > 0 && uint64(len(out)) < limit {
		token := in[0]
		literals, rest, err := lz4Length(int(token>>4), in[1:])
		if err != nil || literals > len(rest) {
			return nil, errDamagedLZ4
		}
		out, in = append(out, rest[:literals]...), rest[literals:]
		if len(in) == 0 {
			break // the last sequence has no match
		}
		if len(in) < 2 {
			return nil, errDamagedLZ4
		}
		distance := int(in[0]) | int(in[1])<<8
		length, rest, err := lz4Length(int(token&15), in[2:])
		if err != nil || distance == 0 || distance > len(out) {
			return nil, errDamagedLZ4
		}
		in = rest
		for length += 4; length > 0 && uint64(len(out)) < limit; length-- { // they may overlap
			out = append(out, out[len(out)-distance])
		}
	}
	return out[:min(uint64(len(out)), limit)], nil
}

func lz4Length(length int, in []byte) (int, []byte, error) {
	if length < 15 {
		return length, in, nil
	}
	for len(in) > 0 && length < maxCompressed {
		more := in[0]
		length, in = length+int(more), in[1:]
		if more < 255 {
			return length, in, nil
		}
	}
	return 0, nil, errDamagedLZ4
}
