package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/refit-dev/refit/internal/upgrade/backup"
)

// upload is a resumable upload. The object exists when the server has accepted the last chunk.
type upload struct {
	gcs     *GCS
	key     string
	session string
	sent    int64 // bytes that the server has accepted
}

// Put uploads chunk by chunk, and cancels the upload after an error. Its memory is one chunk.
func (g *GCS) Put(ctx context.Context, key string, from io.Reader) error {
	u, err := g.begin(ctx, key)
	if err != nil {
		return err
	}
	if err := u.sendAll(ctx, &source{from: from}); err != nil {
		u.cancel(ctx)
		return err
	}
	return nil
}

// begin opens an upload.
func (g *GCS) begin(ctx context.Context, key string) (*upload, error) {
	query := url.Values{"uploadType": {"resumable"}, "name": {key}}
	target := g.url("/upload/storage/v1/b/"+url.PathEscape(g.bucket)+"/o", query)
	header := http.Header{"X-Upload-Content-Type": {"application/octet-stream"}}
	response, err := g.send(ctx, "store", key, http.MethodPost, target, header, http.NoBody)
	if err != nil {
		return nil, err
	}
	_ = response.Body.Close() // it has no content
	session, err := g.base.Parse(response.Header.Get("Location"))
	// Chunks and the token go to the configured server only.
	if err != nil || response.Header.Get("Location") == "" || session.Scheme != g.base.Scheme || session.Host != g.base.Host {
		return nil, failure("store", key, backup.ErrUnreachable, errors.New("the server returned no upload of its own"))
	}
	return &upload{gcs: g, key: key, session: session.String()}, nil
}

// sendAll sends chunks of partSize, and the rest with the size of the object.
func (u *upload) sendAll(ctx context.Context, from io.Reader) error {
	chunk := make([]byte, partSize)
	for {
		n, err := io.ReadFull(from, chunk)
		last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !last {
			return transferFailure(ctx, "store", u.key, err)
		}
		if err := u.sendChunk(ctx, chunk[:n], last); err != nil || last {
			return err
		}
	}
}

// sendChunk sends a chunk until the server has accepted all of it.
func (u *upload) sendChunk(ctx context.Context, chunk []byte, last bool) error {
	start, end := u.sent, u.sent+int64(len(chunk))
	total := "*"
	if last {
		total = strconv.FormatInt(end, 10)
	}
	for failures := 0; ; {
		done, err := u.put(ctx, chunk[u.sent-start:], total)
		if errors.Is(err, backup.ErrUnreachable) && failures < attempts-1 && ctx.Err() == nil {
			failures++
			done, err = u.resume(ctx, failures, total)
		}
		switch {
		case err != nil:
			return err
		case done && !last, u.sent < start, u.sent > end:
			return failure("store", u.key, backup.ErrUnreachable, errors.New("the server has lost a part of the upload"))
		case done, u.sent == end && !last:
			return nil
		}
	}
}

// resume waits a moment, then queries what the server has accepted.
func (u *upload) resume(ctx context.Context, failures int, total string) (done bool, err error) {
	select {
	case <-ctx.Done():
		return false, context.Cause(ctx)
	case <-time.After(time.Duration(failures) * time.Second):
	}
	return u.request(ctx, nil, "bytes */"+total)
}

// put sends bytes that follow those which the server has accepted.
func (u *upload) put(ctx context.Context, piece []byte, total string) (done bool, err error) {
	if len(piece) == 0 {
		return u.request(ctx, nil, "bytes */"+total)
	}
	return u.request(ctx, piece, fmt.Sprintf("bytes %d-%d/%s", u.sent, u.sent+int64(len(piece))-1, total))
}

// request sends bytes, and updates what the server has accepted. It is done when the object exists.
func (u *upload) request(ctx context.Context, piece []byte, contentRange string) (done bool, err error) {
	header := http.Header{"Content-Range": {contentRange}}
	response, err := u.gcs.send(ctx, "store", u.key, http.MethodPut, u.session, header, bytes.NewReader(piece))
	if errors.Is(err, backup.ErrNotFound) { // not the bucket: it had the upload
		return false, failure("store", u.key, backup.ErrUnreachable, errors.New("the server has lost the upload"))
	}
	if err != nil {
		return false, err
	}
	_ = response.Body.Close() // Verify reads the object back
	if response.StatusCode != http.StatusPermanentRedirect {
		return true, nil
	}
	u.sent = 0 // without a range the server has nothing
	if text, ok := strings.CutPrefix(response.Header.Get("Range"), "bytes=0-"); ok {
		end, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return false, failure("store", u.key, backup.ErrUnreachable, errors.New("the server returned an invalid range"))
		}
		u.sent = end + 1
	}
	return false, nil
}

// cancel makes the server discard the upload; otherwise it does so after a week.
func (u *upload) cancel(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTimeout)
	defer cancel()
	if response, err := u.gcs.send(ctx, "cancel", u.key, http.MethodDelete, u.session, nil, nil); err == nil {
		_ = response.Body.Close() // it has no content
	}
}

const cancelTimeout = 30 * time.Second
