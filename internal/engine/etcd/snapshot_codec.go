package etcd

import (
	"fmt"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
)

// blobField is the number of the field blob of a SnapshotResponse.
const blobField protowire.Number = 3

// snapshotCodec decodes the messages of one snapshot into one buffer: the blob of a
// SnapshotResponse is valid until the next one is received. It leaves out all other fields.
type snapshotCodec struct {
	encoding.CodecV2 // of all other messages
	buffer           []byte
}

// Unmarshal decodes a message.
func (c *snapshotCodec) Unmarshal(data mem.BufferSlice, into any) error {
	response, ok := into.(*etcdserverpb.SnapshotResponse)
	if !ok {
		return c.CodecV2.Unmarshal(data, into)
	}
	size := data.Len()
	if size > cap(c.buffer) {
		c.buffer = make([]byte, size)
	}
	raw := c.buffer[:size]
	data.CopyTo(raw)
	blob, err := blobOf(raw)
	response.Blob = blob
	return err
}

// blobOf returns the blob of an encoded SnapshotResponse. Its last value counts.
func blobOf(raw []byte) (blob []byte, err error) {
	for len(raw) > 0 {
		number, kind, n := protowire.ConsumeTag(raw)
		if n >= 0 && number == blobField && kind == protowire.BytesType {
			raw = raw[n:]
			blob, n = protowire.ConsumeBytes(raw)
		} else if n >= 0 {
			raw = raw[n:]
			n = protowire.ConsumeFieldValue(number, kind, raw)
		}
		if n < 0 {
			return nil, fmt.Errorf("cannot decode a message of etcd's snapshot: %w", protowire.ParseError(n))
		}
		raw = raw[n:]
	}
	return blob, nil
}
