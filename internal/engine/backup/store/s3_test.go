package store

import (
	"bytes"
	"encoding/pem"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/refit-dev/refit/internal/upgrade/backup"
)

const testSecret = "Sup3rS3cretKey"

// fakeS3 is a server with the calls that S3 uses, for one bucket.
type fakeS3 struct {
	mu      sync.Mutex
	objects map[string][]byte
	uploads map[string]map[string][]byte // key → part number → content
	// fault, if set, may answer a request instead.
	fault func(w http.ResponseWriter, r *http.Request) (answered bool)
}

func newFakeS3() *fakeS3 {
	return &fakeS3{objects: map[string][]byte{}, uploads: map[string]map[string][]byte{}}
}

func (f *fakeS3) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fault != nil && f.fault(w, r) {
		return
	}
	key, query := strings.TrimPrefix(r.URL.Path, "/bucket/"), r.URL.Query()
	switch {
	case key == r.URL.Path || key == "":
		f.list(w, query.Get("prefix"), query.Has("uploads"))
	case query.Has("uploads"):
		f.uploads[key] = map[string][]byte{}
		fmt.Fprint(w, `<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>`)
	case query.Has("partNumber"):
		f.uploads[key][query.Get("partNumber")] = body
		w.Header().Set("ETag", `"x"`)
	case query.Has("uploadId") && r.Method == http.MethodPost:
		f.complete(w, key)
	case query.Has("uploadId"):
		delete(f.uploads, key)
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodPut:
		f.objects[key] = body
		w.Header().Set("ETag", `"x"`)
	case r.Method == http.MethodDelete:
		delete(f.objects, key)
		w.WriteHeader(http.StatusNoContent)
	default:
		f.get(w, r, key)
	}
}

func (f *fakeS3) list(w http.ResponseWriter, prefix string, uploads bool) {
	if uploads {
		fmt.Fprint(w, "<ListMultipartUploadsResult>")
		for _, key := range slices.Sorted(maps.Keys(f.uploads)) {
			if strings.HasPrefix(key, prefix) {
				fmt.Fprintf(w, "<Upload><Key>%s</Key><UploadId>1</UploadId><Initiated>2026-11-16T10:00:00.000Z</Initiated></Upload>", key)
			}
		}
		fmt.Fprint(w, "</ListMultipartUploadsResult>")
		return
	}
	fmt.Fprint(w, "<ListBucketResult>")
	for _, key := range slices.Sorted(maps.Keys(f.objects)) {
		if strings.HasPrefix(key, prefix) {
			fmt.Fprintf(w, "<Contents><Key>%s</Key><Size>%d</Size><LastModified>2026-11-16T10:00:00.000Z</LastModified></Contents>", key, len(f.objects[key]))
		}
	}
	fmt.Fprint(w, "</ListBucketResult>")
}

func (f *fakeS3) complete(w http.ResponseWriter, key string) {
	var whole []byte
	for n := range len(f.uploads[key]) {
		whole = append(whole, f.uploads[key][fmt.Sprint(n+1)]...)
	}
	f.objects[key] = whole
	delete(f.uploads, key)
	fmt.Fprintf(w, `<CompleteMultipartUploadResult><Bucket>bucket</Bucket><Key>%s</Key><ETag>"x"</ETag></CompleteMultipartUploadResult>`, key)
}

func (f *fakeS3) get(w http.ResponseWriter, r *http.Request, key string) {
	content, ok := f.objects[key]
	if !ok {
		s3Error(w, http.StatusNotFound, "NoSuchKey", "")
		return
	}
	w.Header().Set("ETag", `"x"`)
	http.ServeContent(w, r, "", time.Date(2026, 11, 16, 10, 0, 0, 0, time.UTC), bytes.NewReader(content))
}

func s3Error(w http.ResponseWriter, status int, code, message string) {
	w.WriteHeader(status)
	_ = xml.NewEncoder(w).Encode(struct {
		XMLName       xml.Name `xml:"Error"`
		Code, Message string
	}{Code: code, Message: message})
}

func testS3(t *testing.T, f http.Handler, change func(*S3Settings)) *S3 {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	settings := S3Settings{Endpoint: server.URL, Region: "here", Bucket: "bucket", PathStyle: true, AccessKey: "access", SecretKey: testSecret}
	if change != nil {
		change(&settings)
	}
	s, err := OpenS3(settings)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestS3(t *testing.T) {
	f := newFakeS3()
	testStore(t, testS3(t, f, nil))
	if len(f.uploads) != 0 {
		t.Errorf("left uploads %v", f.uploads)
	}
}

func TestInterruptedUploadIsListedAndDeleted(t *testing.T) {
	f := newFakeS3()
	f.uploads[testKey] = map[string][]byte{"1": []byte("half")}
	s := testS3(t, f, nil)
	objects, err := s.List(t.Context(), "prod/")
	if err != nil || len(objects) != 1 || objects[0].Key != testKey || !objects[0].Partial {
		t.Fatalf("got %+v, %v", objects, err)
	}
	if err := s.Delete(t.Context(), testKey); err != nil || len(f.uploads) != 0 {
		t.Errorf("left %v, %v", f.uploads, err)
	}
}

func TestErrorsOfS3HaveAClassAndNoSecrets(t *testing.T) {
	t.Parallel()
	for situation, tt := range map[string]struct {
		status int
		code   string
		want   error
	}{
		"wrong key":             {http.StatusForbidden, "InvalidAccessKeyId", backup.ErrDenied},
		"wrong secret":          {http.StatusForbidden, "SignatureDoesNotMatch", backup.ErrDenied},
		"no bucket":             {http.StatusNotFound, "NoSuchBucket", backup.ErrNotFound},
		"disk full":             {http.StatusInsufficientStorage, "XMinioStorageFull", backup.ErrFull},
		"quota of MinIO":        {http.StatusBadRequest, "XMinioAdminBucketQuotaExceeded", backup.ErrFull},
		"quota of Ceph":         {http.StatusForbidden, "QuotaExceeded", backup.ErrFull},
		"server is down":        {http.StatusBadGateway, "", backup.ErrUnreachable},
		"code that is a secret": {http.StatusForbidden, "<" + testSecret + ">", backup.ErrDenied},
	} {
		t.Run(situation, func(t *testing.T) {
			f := newFakeS3()
			f.fault = func(w http.ResponseWriter, _ *http.Request) bool {
				s3Error(w, tt.status, tt.code, "you sent "+testSecret)
				return true
			}
			s := testS3(t, f, nil)
			for _, size := range []int{10, partSize + 1} {
				err := s.Put(t.Context(), testKey, bytes.NewReader(make([]byte, size)))
				if !errors.Is(err, tt.want) || strings.Contains(err.Error(), testSecret) {
					t.Errorf("%d bytes: got %v, want %v", size, err, tt.want)
				}
			}
		})
	}
}

func TestBucketThatFillsUpKeepsNothing(t *testing.T) {
	f := newFakeS3()
	f.fault = func(w http.ResponseWriter, r *http.Request) bool {
		full := r.URL.Query().Get("partNumber") == "3"
		if full {
			s3Error(w, http.StatusInsufficientStorage, "XMinioStorageFull", "")
		}
		return full
	}
	s := testS3(t, f, nil)
	err := s.Put(t.Context(), testKey, bytes.NewReader(make([]byte, 4*partSize)))
	if !errors.Is(err, backup.ErrFull) {
		t.Errorf("got %v", err)
	}
	if len(f.uploads) != 0 || len(f.objects) != 0 {
		t.Errorf("left %d uploads, %d objects", len(f.uploads), len(f.objects))
	}
}

func TestCutConnectionFails(t *testing.T) {
	t.Parallel()
	f := newFakeS3()
	f.objects[testKey] = make([]byte, 1<<20)
	cut := func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet {
			w.Header().Set("ETag", `"x"`)
			w.Header().Set("Last-Modified", "Mon, 16 Nov 2026 10:00:00 GMT")
			w.Header().Set("Content-Length", "1048576")
			_, _ = w.Write(make([]byte, 1000))
		}
		panic(http.ErrAbortHandler)
	}
	f.fault = cut
	s := testS3(t, f, nil)
	if _, err := content(t, s, testKey); !errors.Is(err, backup.ErrUnreachable) {
		t.Errorf("read: %v", err)
	}
	if err := s.Put(t.Context(), testKey, strings.NewReader("x")); !errors.Is(err, backup.ErrUnreachable) {
		t.Errorf("write: %v", err)
	}
}

func TestSilentServerEnds(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	silent := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release })
	s := testS3(t, silent, func(settings *S3Settings) { settings.Stall = 50 * time.Millisecond })
	defer close(release)
	for name, call := range map[string]func() error{
		"Put":    func() error { return s.Put(t.Context(), testKey, strings.NewReader("x")) },
		"Get":    func() error { _, err := s.Get(t.Context(), testKey); return err },
		"Stat":   func() error { _, err := s.Stat(t.Context(), testKey); return err },
		"List":   func() error { _, err := s.List(t.Context(), ""); return err },
		"Delete": func() error { return s.Delete(t.Context(), testKey) },
	} {
		if err := call(); !errors.Is(err, backup.ErrUnreachable) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCABundleReplacesTheSystemsCertificates(t *testing.T) {
	server := httptest.NewTLSServer(newFakeS3())
	defer server.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	for situation, tt := range map[string]struct {
		ca   []byte
		want error
	}{"trusted": {ca, nil}, "unknown": {nil, backup.ErrUnreachable}} {
		s, err := OpenS3(S3Settings{Endpoint: server.URL, Region: "here", Bucket: "bucket", PathStyle: true, CA: tt.ca})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Put(t.Context(), "a", strings.NewReader("x")); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", situation, err)
		}
	}
}

func TestInvalidSettingsAreRefused(t *testing.T) {
	for _, settings := range []S3Settings{
		{Endpoint: "s3.example.com"},
		{Endpoint: "ftp://s3.example.com"},
		{Endpoint: "https://user:" + testSecret + "@s3.example.com"},
		{Endpoint: "https://s3.example.com/path"},
		{Endpoint: "https://s3.example.com", CA: []byte("no certificate")},
	} {
		if _, err := OpenS3(settings); err == nil || strings.Contains(err.Error(), testSecret) {
			t.Errorf("%+v: %v", settings, err)
		}
	}
}
