package upstreamtest

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/testing/ca"
	"github.com/sigstore/sigstore-go/pkg/tlog"
)

// Sigstore is an instance of sigstore. Its address is that of its transparency log.
type Sigstore struct {
	*httptest.Server
	t  testing.TB
	ca *ca.VirtualSigstore

	mu      sync.Mutex
	entries map[string]Signature // by their bodies
	queries int
}

// New starts an instance.
func New(tb testing.TB) *Sigstore {
	tb.Helper()
	authorities, err := ca.NewVirtualSigstore()
	if err != nil {
		tb.Fatal(err)
	}
	s := &Sigstore{t: tb, ca: authorities, entries: map[string]Signature{}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	tb.Cleanup(s.Close)
	return s
}

// trust has no log of certificates: those of the virtual instance are not in one.
type trust struct{ root.TrustedMaterial }

func (trust) CTLogs() map[string]*root.TransparencyLog { return nil }

// Trust returns the authorities of the instance.
func (s *Sigstore) Trust() root.TrustedMaterial { return trust{s.ca} }

// LoggingTrust returns the authorities of an instance that logs its certificates.
func (s *Sigstore) LoggingTrust() root.TrustedMaterial { return s.ca }

// Queries returns the number of queries of the transparency log.
func (s *Sigstore) Queries() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queries
}

// Signer signs content.
type Signer struct {
	Account, Issuer string
	// After is the time of the log entry after the start of the certificate, which is valid for 10
	// minutes; by default one minute.
	After time.Duration
	// Unlogged signatures have an entry that the log does not return.
	Unlogged bool
}

// Signature is a signature with its certificate and its entry in the transparency log.
type Signature struct {
	Digest      [sha256.Size]byte // of the content
	Content     []byte
	Certificate []byte // DER
	Entry       tlog.RekorPayload
	Body        []byte // of the entry
	Timestamp   []byte // the log's signature of the entry
}

// Sign signs content.
func (s *Sigstore) Sign(by Signer, content []byte) Signature {
	s.t.Helper()
	certificate, private, err := s.ca.GenerateLeafCert(by.Account, by.Issuer)
	if err != nil {
		s.t.Fatal(err)
	}
	out := Signature{Digest: sha256.Sum256(content), Certificate: certificate.Raw}
	key, ok := private.(*ecdsa.PrivateKey)
	if !ok {
		s.t.Fatalf("%T is not an ECDSA key", private)
	}
	if out.Content, err = ecdsa.SignASN1(rand.Reader, key, out.Digest[:]); err != nil {
		s.t.Fatal(err)
	}
	at := by.After
	if at == 0 {
		at = time.Minute
	}
	s.log(&out, certificate.NotBefore.Add(at))
	if !by.Unlogged {
		s.mu.Lock()
		s.entries[string(out.Body)] = out
		s.mu.Unlock()
	}
	return out
}

type object = map[string]any

// log adds the entry of a signature.
func (s *Sigstore) log(signed *Signature, at time.Time) {
	s.t.Helper()
	id, err := s.ca.RekorLogID()
	if err != nil {
		s.t.Fatal(err)
	}
	signed.Body = encode(s.t, object{"apiVersion": "0.0.1", "kind": "hashedrekord", "spec": object{
		"data":      object{"hash": object{"algorithm": "sha256", "value": hex.EncodeToString(signed.Digest[:])}},
		"signature": object{"content": signed.Content, "publicKey": object{"content": signed.PEM()}},
	}})
	signed.Entry = tlog.RekorPayload{
		Body: base64.StdEncoding.EncodeToString(signed.Body), IntegratedTime: at.Unix(), LogIndex: int64(1000 + len(s.entries)), LogID: id,
	}
	if signed.Timestamp, err = s.ca.RekorSignPayload(signed.Entry); err != nil {
		s.t.Fatal(err)
	}
}

// PEM returns the certificate in PEM.
func (g *Signature) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: g.Certificate})
}

// Sig returns the file .sig of dl.k8s.io.
func (g *Signature) Sig() []byte { return []byte(base64.StdEncoding.EncodeToString(g.Content)) }

// Cert returns the file .cert of dl.k8s.io.
func (g *Signature) Cert() []byte { return []byte(base64.StdEncoding.EncodeToString(g.PEM())) }

// Answer returns the entry as the log does.
func (g *Signature) Answer(tb testing.TB) []byte {
	tb.Helper()
	return encode(tb, []object{{"24296fb24b8ad77a": object{
		"body": g.Entry.Body, "integratedTime": g.Entry.IntegratedTime, "logIndex": g.Entry.LogIndex, "logID": g.Entry.LogID,
		"verification": object{"signedEntryTimestamp": g.Timestamp, "inclusionProof": object{}},
	}}})
}

// Bundle returns the file .sigstore.json.
func (s *Sigstore) Bundle(signed Signature) []byte {
	s.t.Helper()
	proof, err := s.ca.GetInclusionProof(signed.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	digest, err := hex.DecodeString(*proof.RootHash)
	if err != nil {
		s.t.Fatal(err)
	}
	id, err := hex.DecodeString(signed.Entry.LogID)
	if err != nil {
		s.t.Fatal(err)
	}
	return encode(s.t, object{
		"mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
		"verificationMaterial": object{
			"certificate": object{"rawBytes": signed.Certificate},
			"tlogEntries": []object{{
				"logIndex": signed.Entry.LogIndex, "logId": object{"keyId": id}, "integratedTime": signed.Entry.IntegratedTime,
				"kindVersion":       object{"kind": "hashedrekord", "version": "0.0.1"},
				"inclusionPromise":  object{"signedEntryTimestamp": signed.Timestamp},
				"canonicalizedBody": signed.Body,
				"inclusionProof": object{
					"logIndex": *proof.LogIndex, "treeSize": *proof.TreeSize, "rootHash": digest, "hashes": []string{},
					"checkpoint": object{"envelope": *proof.Checkpoint},
				},
			}},
		},
		"messageSignature": object{
			"messageDigest": object{"algorithm": "SHA2_256", "digest": signed.Digest[:]},
			"signature":     signed.Content,
		},
	})
}

// serve returns the entry of a query that has the digest, the signature and the certificate.
func (s *Sigstore) serve(w http.ResponseWriter, r *http.Request) {
	var query struct {
		Entries []json.RawMessage `json:"entries"`
	}
	if r.Method != http.MethodPost || r.URL.Path != "/api/v1/log/entries/retrieve" || json.NewDecoder(r.Body).Decode(&query) != nil || len(query.Entries) != 1 {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	var body any
	if json.Unmarshal(query.Entries[0], &body) != nil {
		w.WriteHeader(http.StatusUnprocessableEntity)
		return
	}
	s.mu.Lock()
	s.queries++
	found, ok := s.entries[string(encode(s.t, body))]
	s.mu.Unlock()
	answer := []byte("[]")
	if ok {
		answer = found.Answer(s.t)
	}
	_, _ = w.Write(answer) // a client that has gone reports it
}

func encode(tb testing.TB, what any) []byte {
	tb.Helper()
	out, err := json.Marshal(what)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}
