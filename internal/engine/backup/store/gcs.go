package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/refit-dev/refit/internal/upgrade/backup"
)

// GCSSettings describe a bucket of Google Cloud Storage.
type GCSSettings struct {
	Endpoint string // empty for Google's own
	Bucket   string
	CA       []byte // PEM; empty for the system's certificates
	// ServiceAccount is a key file in JSON format. Without it requests are anonymous.
	ServiceAccount []byte
	Stall          time.Duration // 0 for the default
}

// GCS is a store in a bucket of Google Cloud Storage. It uses the JSON API.
type GCS struct {
	base   *url.URL
	bucket string
	client *http.Client
}

// OpenGCS opens the store in a bucket. It sends no request.
func OpenGCS(settings GCSSettings) (*GCS, error) {
	if settings.Endpoint == "" {
		settings.Endpoint = "https://storage.googleapis.com"
	}
	base, err := endpointOf(settings.Endpoint)
	if err != nil {
		return nil, err
	}
	transport, err := newTransport(settings.CA, cmp.Or(settings.Stall, Stall))
	if err != nil {
		return nil, err
	}
	authorized, err := authorize(transport, settings.ServiceAccount)
	if err != nil {
		return nil, err
	}
	// A redirect would send the token to another server.
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &GCS{base, settings.Bucket, &http.Client{Transport: authorized, CheckRedirect: stay}}, nil
}

// gcsObject is the description of an object in the JSON API.
type gcsObject struct {
	Name    string    `json:"name"`
	Size    string    `json:"size"`
	Updated time.Time `json:"updated"`
}

func (o gcsObject) object() (backup.Object, error) {
	size, err := strconv.ParseInt(o.Size, 10, 64)
	if err != nil || size < 0 {
		return backup.Object{}, errors.New("the server returned an invalid size")
	}
	return backup.Object{Key: o.Name, Size: size, Modified: o.Updated}, nil
}

// Get downloads an object in one request.
func (g *GCS) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	response, err := g.send(ctx, "read", key, http.MethodGet, g.object(key, url.Values{"alt": {"media"}}), nil, nil) //nolint:bodyclose // the caller closes it
	if err != nil {
		return nil, err
	}
	return &download{response.Body, ctx, key}, nil
}

// Stat reads the description of an object.
func (g *GCS) Stat(ctx context.Context, key string) (backup.Object, error) {
	var found gcsObject
	if err := g.read(ctx, "read", key, g.object(key, nil), &found); err != nil {
		return backup.Object{}, err
	}
	object, err := found.object()
	if err != nil {
		return backup.Object{}, failure("read", key, backup.ErrCorrupt, err)
	}
	object.Key = key
	return object, nil
}

// List returns objects. Interrupted uploads are not listed: the server removes them after a week.
func (g *GCS) List(ctx context.Context, prefix string) ([]backup.Object, error) {
	var objects []backup.Object
	for token := ""; ; {
		var page struct {
			Items         []gcsObject `json:"items"`
			NextPageToken string      `json:"nextPageToken"`
		}
		query := url.Values{"prefix": {prefix}, "maxResults": {"1000"}, "pageToken": {token}}
		if err := g.read(ctx, "list", prefix, g.url("/storage/v1/b/"+url.PathEscape(g.bucket)+"/o", query), &page); err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			object, err := item.object()
			if err != nil {
				return nil, failure("list", prefix, backup.ErrCorrupt, err)
			}
			objects = append(objects, object)
		}
		if len(objects) > maxObjects {
			return nil, failure("list", prefix, nil, errTooMany)
		}
		if token = page.NextPageToken; token == "" {
			return objects, nil
		}
	}
}

// Delete removes an object.
func (g *GCS) Delete(ctx context.Context, key string) error {
	response, err := g.send(ctx, "delete", key, http.MethodDelete, g.object(key, nil), nil, nil)
	if errors.Is(err, backup.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// object returns the URL of an object. Its slashes are escaped.
func (g *GCS) object(key string, query url.Values) string {
	return g.url("/storage/v1/b/"+url.PathEscape(g.bucket)+"/o/"+url.PathEscape(key), query)
}

func (g *GCS) url(path string, query url.Values) string {
	return strings.TrimSuffix(g.base.String(), "/") + path + "?" + query.Encode()
}

// maxAnswer bounds a page of a list.
const maxAnswer = 8 << 20

// read sends a GET request and decodes its answer.
func (g *GCS) read(ctx context.Context, verb, key, target string, into any) error {
	response, err := g.send(ctx, verb, key, http.MethodGet, target, nil, nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return transferFailure(ctx, verb, key, err)
	}
	if json.Unmarshal(raw, into) != nil {
		return failure(verb, key, backup.ErrUnreachable, errors.New("the server returned invalid JSON"))
	}
	return nil
}

// send sends one request. Statuses from 300 are errors, except those of a resumable upload.
func (g *GCS) send(ctx context.Context, verb, key, method, target string, header http.Header, body io.Reader) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, target, body)
	if err != nil {
		return nil, failure(verb, key, nil, errors.New("the URL is invalid"))
	}
	maps.Copy(request.Header, header)
	response, err := g.client.Do(request)
	if err != nil {
		return nil, g.explain(ctx, verb, key, err)
	}
	if status := response.StatusCode; status >= 300 && status != http.StatusPermanentRedirect {
		_ = response.Body.Close() // its message is not used
		return nil, failure(verb, key, statusClass(status), fmt.Errorf("the server returned status %d", status))
	}
	return response, nil
}
