package etcd

import (
	"context"
	"fmt"
	"io"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
)

// Snapshot streams a snapshot of the database of the member on this host: the bytes of the file,
// followed by their SHA-256 digest. The context bounds the whole stream.
//
// It does not use the client of the library, which copies each message of 32 KiB through a pipe,
// and decodes it in a buffer of 1 MiB that gRPC clears every time.
func (c *Client) Snapshot(ctx context.Context) (io.ReadCloser, error) {
	ctx, cancel := context.WithCancel(ctx)
	remote := etcdserverpb.NewMaintenanceClient(c.local.ActiveConnection())
	codec := &snapshotCodec{CodecV2: encoding.GetCodecV2("proto")}
	stream, err := remote.Snapshot(ctx, &etcdserverpb.SnapshotRequest{}, grpc.ForceCodecV2(codec), grpc.MaxCallRecvMsgSize(maxResponse))
	if err != nil {
		cancel()
		return nil, fmt.Errorf("cannot take a snapshot of etcd: %w", err)
	}
	return &snapshotReader{stream: stream, cancel: cancel}, nil
}

// snapshotReader reads the messages of a snapshot.
type snapshotReader struct {
	stream grpc.ServerStreamingClient[etcdserverpb.SnapshotResponse]
	cancel context.CancelFunc
	rest   []byte // of the last message; the next one overwrites it
	failed error
}

// Read returns io.EOF only after etcd has ended the stream without an error.
func (r *snapshotReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.failed != nil {
			return 0, r.failed
		}
		response, err := r.stream.Recv()
		if err != nil {
			r.failed = err
			continue
		}
		r.rest = response.GetBlob()
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// Close ends the stream. It may be called while Read waits.
func (r *snapshotReader) Close() error {
	r.cancel()
	return nil
}
