package store

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/refit-dev/refit/internal/upgrade/backup"
)

// The memory of an upload: partSize for each thread, and once more for the beginning. Stores accept
// 10,000 parts, which is more than a part of a backup may need.
const (
	partSize      = 16 << 20
	uploadThreads = 2
)

// attempts is how often a request is sent. The caller repeats whole backups.
const attempts = 3

// S3Settings describe a bucket of an S3 server.
type S3Settings struct {
	Endpoint  string // https://s3.example.com
	Region    string // empty for servers without regions
	Bucket    string
	PathStyle bool   // the bucket is in the path, not in the host name
	CA        []byte // PEM; empty for the system's certificates

	AccessKey    string
	SecretKey    string
	SessionToken string

	Stall time.Duration // 0 for the default
}

// S3 is a store in a bucket of an S3 server.
type S3 struct {
	client *minio.Client
	bucket string
}

// OpenS3 opens the store in a bucket. It sends no request.
func OpenS3(settings S3Settings) (*S3, error) {
	endpoint, err := endpointOf(settings.Endpoint)
	if err != nil {
		return nil, err
	}
	transport, err := newTransport(settings.CA, cmp.Or(settings.Stall, Stall))
	if err != nil {
		return nil, err
	}
	lookup := minio.BucketLookupAuto
	if settings.PathStyle {
		lookup = minio.BucketLookupPath
	}
	client, err := minio.New(endpoint.Host, &minio.Options{
		Creds:  credentials.NewStaticV4(settings.AccessKey, settings.SecretKey, settings.SessionToken),
		Secure: endpoint.Scheme == "https", Transport: transport, Region: settings.Region,
		BucketLookup: lookup, MaxRetries: attempts,
	})
	if err != nil { // The error may repeat settings.
		return nil, errors.New("the settings of the S3 store are invalid")
	}
	return &S3{client, settings.Bucket}, nil
}

// endpointOf parses a URL that has only a scheme and a host.
func endpointOf(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Path != "" && u.Path != "/" {
		return nil, errors.New("the endpoint is not a URL like https://s3.example.com")
	}
	return u, nil
}

// Put uploads in parts, and aborts the upload after an error. It sends an object that fits into one
// part in a single request.
func (s *S3) Put(ctx context.Context, key string, from io.Reader) error {
	from = &source{from: from}
	first := make([]byte, partSize)
	n, err := io.ReadFull(from, first)
	options := minio.PutObjectOptions{ContentType: "application/octet-stream", DisableContentSha256: true, SendContentMd5: true}
	switch {
	case err == nil:
		options.PartSize, options.NumThreads, options.ConcurrentStreamParts = partSize, uploadThreads, true
		_, err = s.client.PutObject(ctx, s.bucket, key, io.MultiReader(bytes.NewReader(first), from), -1, options)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		_, err = s.client.PutObject(ctx, s.bucket, key, bytes.NewReader(first[:n]), int64(n), options)
	}
	return s.explain(ctx, "store", key, err)
}

// Get downloads an object in one request.
func (s *S3) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	body, _, _, err := minio.Core{Client: s.client}.GetObject(ctx, s.bucket, key, minio.GetObjectOptions{})
	if err != nil {
		return nil, s.explain(ctx, "read", key, err)
	}
	return &download{body, ctx, key}, nil
}

// Stat reads the headers of an object.
func (s *S3) Stat(ctx context.Context, key string) (backup.Object, error) {
	info, err := s.client.StatObject(ctx, s.bucket, key, minio.StatObjectOptions{})
	if err != nil {
		return backup.Object{}, s.explain(ctx, "read", key, err)
	}
	return backup.Object{Key: key, Size: info.Size, Modified: info.LastModified}, nil
}

// List returns objects, and uploads that have not ended. Not all servers list the latter.
func (s *S3) List(ctx context.Context, prefix string) ([]backup.Object, error) {
	ctx, cancel := context.WithCancel(ctx) // ends the goroutines of the library
	defer cancel()
	var objects []backup.Object
	for info := range s.client.ListObjects(ctx, s.bucket, minio.ListObjectsOptions{Prefix: prefix, Recursive: true}) {
		if info.Err != nil {
			return nil, s.explain(ctx, "list", prefix, info.Err)
		}
		if len(objects) == maxObjects {
			return nil, failure("list", prefix, nil, errTooMany)
		}
		objects = append(objects, backup.Object{Key: info.Key, Size: info.Size, Modified: info.LastModified})
	}
	for upload := range s.client.ListIncompleteUploads(ctx, s.bucket, prefix, true) {
		if upload.Err != nil || len(objects) == maxObjects {
			break // their space is all that is lost
		}
		objects = append(objects, backup.Object{Key: upload.Key, Size: upload.Size, Modified: upload.Initiated, Partial: true})
	}
	return objects, nil
}

// Delete removes an object and aborts uploads to its key.
func (s *S3) Delete(ctx context.Context, key string) error {
	err := s.explain(ctx, "delete", key, s.client.RemoveObject(ctx, s.bucket, key, minio.RemoveObjectOptions{}))
	if err != nil && !errors.Is(err, backup.ErrNotFound) {
		return err
	}
	err = s.explain(ctx, "delete", key, s.client.RemoveIncompleteUpload(ctx, s.bucket, key))
	if errors.Is(err, backup.ErrUnreachable) {
		return err
	}
	return nil // a server without this call has no such uploads
}

// fullCodes are the codes of servers without space or quota.
var fullCodes = map[string]bool{
	"XMinioStorageFull": true, "XMinioAdminBucketQuotaExceeded": true, "QuotaExceeded": true, "InsufficientStorage": true,
}

// explain classifies an error of the library.
func (s *S3) explain(ctx context.Context, verb, key string, err error) error {
	answer, ok := errors.AsType[minio.ErrorResponse](err)
	switch {
	case err == nil:
		return nil
	case !ok || answer.StatusCode == 0:
		return transferFailure(ctx, verb, key, err)
	case fullCodes[answer.Code]:
		return failure(verb, key, backup.ErrFull, answered(answer.Code, answer.StatusCode))
	case answer.Code == "NoSuchBucket":
		return failure(verb, key, backup.ErrNotFound, fmt.Errorf("there is no bucket %q", s.bucket))
	case answer.StatusCode == http.StatusOK: // an error in the body of a long answer
		return failure(verb, key, backup.ErrUnreachable, answered(answer.Code, answer.StatusCode))
	}
	return failure(verb, key, statusClass(answer.StatusCode), answered(answer.Code, answer.StatusCode))
}
