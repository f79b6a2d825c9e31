package server_test

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"
)

// A client that reads nothing is dropped after the deadline of a write. Another one gets every
// event meanwhile.
func TestASlowClientIsDroppedAndDelaysNobody(t *testing.T) {
	b := newBed(t).current(t)
	raw, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(b.url, "https://"))
	must(t, err)
	defer raw.Close()
	must(t, raw.(*net.TCPConn).SetReadBuffer(4<<10))
	slow := tls.Client(raw, &tls.Config{InsecureSkipVerify: true})
	_, err = fmt.Fprintf(slow, "GET /api/v1alpha1/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer viewer\r\n\r\n")
	must(t, err)
	b.eventually(t, "the slow client has a stream", func() bool { return b.Streams() == 1 })
	quick := b.follow(t, "")
	data := append(append([]byte{'"'}, bytes.Repeat([]byte{'x'}, 60<<10)...), '"')
	const events = 200 // more than buffers of the kernel hold
	begun := time.Now()
	for range events {
		b.Publish("large", data)
	}
	for received := 0; received < events; {
		select {
		case e := <-quick:
			if e.kind == "large" {
				received++
			}
		case <-time.After(wait):
			t.Fatalf("the other client has %d events", received)
		}
	}
	if took := time.Since(begun); took > 4*time.Second {
		t.Errorf("the other client waited %s", took)
	}
	b.eventually(t, "the slow client is dropped", func() bool { return b.Streams() == 1 })
}
