package etcd

import (
	"bytes"
	"testing"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

func TestMessagesOfASnapshotAreDecoded(t *testing.T) {
	codec := &snapshotCodec{CodecV2: encoding.GetCodecV2("proto")}
	for _, blob := range [][]byte{[]byte("a long blob of the database"), []byte("short"), nil} {
		raw, err := proto.Marshal(&etcdserverpb.SnapshotResponse{
			Header: &etcdserverpb.ResponseHeader{Revision: 7}, RemainingBytes: 1 << 40, Blob: blob, Version: "3.6.8",
		})
		must(t, err)
		raw = protowire.AppendVarint(protowire.AppendTag(raw, 99, protowire.VarintType), 5) // of a later version
		for cut := range len(raw) {                                                         // frames
			data := mem.BufferSlice{mem.SliceBuffer(raw[:cut]), mem.SliceBuffer(raw[cut:])}
			var got etcdserverpb.SnapshotResponse
			if err := codec.Unmarshal(data, &got); err != nil || !bytes.Equal(got.GetBlob(), blob) {
				t.Fatalf("%q in frames of %d and %d bytes: %q, %v", blob, cut, len(raw)-cut, got.GetBlob(), err)
			}
		}
	}
	for _, raw := range [][]byte{{0x1a, 5, 'a'}, {0xff}, {0x08}} {
		if err := codec.Unmarshal(mem.BufferSlice{mem.SliceBuffer(raw)}, &etcdserverpb.SnapshotResponse{}); err == nil {
			t.Errorf("%x is accepted", raw)
		}
	}
	other, err := proto.Marshal(&etcdserverpb.StatusResponse{Version: "3.6.8"})
	must(t, err)
	var got etcdserverpb.StatusResponse
	must(t, codec.Unmarshal(mem.BufferSlice{mem.SliceBuffer(other)}, &got))
	if got.GetVersion() != "3.6.8" {
		t.Errorf("got %v", &got)
	}
}
